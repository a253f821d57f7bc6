"""Who works here, and what they did."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """A person or a machine account that acts in Tackroom."""
