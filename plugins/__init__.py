"""Areas of snaglist, built-in ones included: each is a plugin of the kernel."""
