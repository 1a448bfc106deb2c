"""What ``schedlab.explain`` may remove from a dispatch problem, and its answer in words."""
