"""URL routes of the site."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView, TemplateView
from django.views.i18n import set_language

from day1site import account_views, api_router, second_factor
from day1site.account_views import LoginLinkPage
from day1site.join import Join
from day1site.oidc import views as oidc

admin.autodiscover()

urlpatterns = [
    path("api/v1", api_router.index),
    path("api/v1/", include(api_router.urls)),
    path("metrics", api_router.metrics, name="metrics"),
    re_path("^api(?:/|$)", api_router.unknown_route),
    path("", include("day1site.oauth.urls")),
    path("", account_views.front, name="front"),
    path("projects", account_views.projects, name="projects"),
    path("p/<slug:slug>", RedirectView.as_view(pattern_name="home", query_string=True)),
    path("p/<slug:slug>/", include("memory.urls")),
    path("p/<slug:slug>/", include("conversations.urls")),
    path("p/<slug:slug>/", include("curation.urls")),
    path("p/<slug:slug>/", include("analytics.urls")),
    path("login", account_views.Login.as_view(), name="login"),
    path("login/oidc", oidc.begin, name="oidc"),
    path("login/oidc/callback", oidc.complete, name="oidc-callback"),
    path("login/code", second_factor.LoginCode.as_view(), name="login-code"),
    path("login/<str:secret>", LoginLinkPage.as_view(), name="login-link"),
    path("logout", account_views.Logout.as_view(), name="logout"),
    path("join/<str:secret>", Join.as_view(), name="join"),
    path("account", account_views.account, name="account"),
    path("account/second-factor", second_factor.Factor.as_view(), name="second-factor"),
    path("account/password", account_views.Password.as_view(), name="password"),
    path("theme", account_views.theme, name="theme"),
    path("language", set_language, name="language"),
    path("help", TemplateView.as_view(template_name="help.html"), name="help"),
    path("admin", RedirectView.as_view(pattern_name="admin:index", query_string=True)),
    path("admin/", admin.site.urls),
]

handler400 = "day1site.error_views.bad_request"
handler403 = "day1site.error_views.forbidden"
handler404 = "day1site.error_views.page_not_found"
handler500 = "day1site.error_views.server_error"
