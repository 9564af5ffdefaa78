"""Functions of real numbers that no instruction computes, each as a graph of smaller rows."""
