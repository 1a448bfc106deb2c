"""Search over orders: changed orders are placed anew from a checkpoint on."""
