"""Ciphers of what the store keeps secret, from the secret key of the server."""

import base64

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

KEY_BYTES = 32


def build_cipher(purpose: bytes) -> Fernet:
    """Return the cipher of one purpose: what another one sealed cannot be opened with it."""
    derived = HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=purpose).derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
