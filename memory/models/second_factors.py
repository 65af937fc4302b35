"""Second factors of accounts: a program that shows codes, and codes on paper for when it is lost."""

from django.conf import settings
from django.db import models

from memory.db.fields import JSONTextField


class SecondFactor(models.Model):
    """What a user shows beside the password. Of recovery codes only hashes are stored."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="second_factor"
    )
    secret = models.TextField(help_text="Encrypted with the server's secret key.")
    last_step = models.BigIntegerField(default=0, help_text="Half minute of the last code: none works twice.")
    recovery_hashes = JSONTextField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"second factor of {self.user}"
