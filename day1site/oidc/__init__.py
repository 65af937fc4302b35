"""Login by a provider that speaks OpenID Connect, such as Google, Entra or Keycloak."""
