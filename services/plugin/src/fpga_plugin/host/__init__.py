"""Reading /sys and /dev below a host root."""
