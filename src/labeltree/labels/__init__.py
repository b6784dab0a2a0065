"""Labels: read in every form that users have them in, named, and weighed."""
