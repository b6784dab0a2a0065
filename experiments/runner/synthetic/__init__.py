"""What the study on synthetic data is made of; `experiments/synthetic.py` runs it."""
