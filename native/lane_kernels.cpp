namespace labeltree::LABELTREE_ISA {
int placeholder() { return 0; }
}
