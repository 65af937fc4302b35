"""The names under which people and programs write secrets, in the languages of their users."""

import re
import unicodedata
from collections.abc import Iterator

from memory.redaction.spans import keep_ascii
from memory.redaction.tries import JOINER, join_forms

# What follows such a name is a secret unless it looks like code or prose.
PASSWORDS = (
    "password passwd passphrase passcode passwort kennwort losungswort zugangscode wachtwoord lösenord"
    " adgangskode kodeord"
    " passord salasana hasło haslo heslo jelszó jelszo parolă şifre sifre lozinka geslo zaporka mdp"
    " contraseña contrasena"
    " contrasenya senha pasahitza parool parole slaptažodis пароль парола лозинка κωδικός συνθηματικό"
    " סיסמה סיסמא"
    " गुप्तशब्द पासवर्ड পাসওয়ার্ড รหัสผ่าน 密码 密碼 口令 暗号 暗證"
    " パスワード パスフレーズ 暗証番号 合言葉 비밀번호 패스워드 암호"
    " 密钥 密鑰 金鑰 私钥 令牌 秘密鍵 비밀키"
).split()
PASSWORD_PHRASES = (
    "mot de passe",
    "mots de passe",
    "phrase secrète",
    "code secret",
    "código secreto",
    "palabra de paso",
    "palavra passe",
    "parola d'ordine",
    "parola segreta",
    "codice segreto",
    "geheimes wort",
    "mật khẩu",
    "kata sandi",
    "kata laluan",
    "كلمة المرور",
    "كلمة السر",
    "رمز عبور",
)
KEYS = (
    "api key",
    "access key",
    "secret key",
    "private key",
    "encryption key",
    "signing key",
    "auth token",
    "access token",
    "refresh token",
    "client secret",
    "api schlüssel",
    "geheimer schlüssel",
    "clé api",
    "clé secrète",
    "clave api",
    "clave secreta",
    "clave de acceso",
    "chave api",
    "chave de api",
    "chave secreta",
    "chiave api",
    "chiave segreta",
    "api ключ",
    "секретный ключ",
    "api 密钥",
    "apiキー",
    "api キー",
    "アクセスキー",
    "シークレット",
    "api 키",
)
# Common words too: what follows them is a secret when it looks like one.
WORDS = (
    "token",
    "auth key",
    "app key",
    "application key",
    "account key",
    "master key",
    "shared key",
    "storage key",
    "consumer key",
    "license key",
    "licence key",
    "deploy key",
    "host key",
    "service key",
    "admin key",
    "session key",
    "session token",
    "hmac key",
    "aes key",
    "root key",
    "bot key",
    "webhook key",
    "subscription key",
    "production key",
    "prod key",
    "live key",
    "read key",
    "write key",
    "integration key",
    "ingest key",
    "private key id",
    "key id",
    "key data",
    "recovery code",
    "backup code",
    "verification code",
    "credential",
    "signature key",
    "pin",
    "pin code",
    "clave",
    "parola",
    "pass",
    "zugangsdaten",
    "geheimnis",
    "schlüssel",
    "jeton",
    "トークン",
    "토큰",
    "токен",
)
SHORT_WORDS = frozenset(
    ("pass", "pin", "mdp", "parola", "clave", "parole", "parool", "geslo", "sifre", "heslo")
)


def list_forms(name: str) -> set[str]:
    """Return a name as it may be written: composed or not, without accents."""
    composed, apart = (unicodedata.normalize(form, name) for form in ("NFC", "NFD"))
    latin = all("a" <= sign <= "ɏ" or not sign.isalpha() for sign in composed)
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return {composed, apart, bare} if latin else {composed, apart}


def join_parts(name: str) -> str:
    """Return a name without the signs that join its words."""
    return re.sub(JOINER, "", name)


def find_places(text: str, part: str) -> Iterator[int]:
    """Yield where a part stands in a text."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def find_hints(folded: str) -> list[tuple[str, int]]:
    """Return the hints of names in a folded text, and where they stand."""
    letters = keep_ascii(folded)
    hints = [(hint, place) for hint in HINTS if hint in letters for place in find_places(folded, hint)]
    if not folded.isascii():
        hints += [(join_parts(found[0]), found.start()) for found in OTHER_HINT.finditer(folded)]
    return hints


def find_names(folded: str) -> Iterator[re.Match[str]]:
    """Yield the names in a folded text, looked for only where a hint is in the place that it has in one."""
    end = 0
    for start in sorted({place - offset for hint, place in find_hints(folded) for offset in _offsets[hint]}):
        if start >= end and (found := NAME.match(folded, start)):
            end = found.end()
            yield found


_sure = {
    form for name in [*PASSWORDS, *PASSWORD_PHRASES, *KEYS, "pwd", "secret"] for form in list_forms(name)
}
_words = {form for name in WORDS for form in list_forms(name)}
_joined = set(map(join_parts, _sure))
NAME = re.compile(rf"(?P<name>{join_forms(_sure | _words)})(?:_?\d{{1,2}})?(?![a-z0-9à-ɏ])")
# Every name has one of them; those that are not of ASCII begin so, and are found by one pattern.
HINTS = (
    "pas key pwd secr token code pin wort clave senha cred segret paro jeton gang geheim mdp wachtw senord"
    " kodeord salasana slo jelsz ifre lozinka zaporka contrase slapta kata ssel cle chave chiave kh"
).split()
OTHER_HINTS = (
    "ło κωδ συνθ парол лоз токен секрет סיסמ गुप पास পাস รหัส 密码 密碼 密钥 密鑰 密鍵 口令 令牌 暗号 暗證"
    " 暗証 金鑰 私钥 スワ スフレ 合言 キー シーク トーク 비밀 패스 암호 토큰 키 مرور السر عبور ключ"
).split()
_others = {unicodedata.normalize(form, hint) for form in ("NFC", "NFD") for hint in OTHER_HINTS} | {"é api"}
OTHER_HINT = re.compile(join_forms(_others))


def list_offsets(hint: str) -> set[int]:
    """Return where a hint may stand in a name, with or without signs that join its words."""
    places = ((form, place) for form in _sure | _words for place in find_places(form, hint))
    return {
        offset for form, place in places for offset in range(place - form.count(" ", 0, place), place + 1)
    }


_offsets = {join_parts(hint): list_offsets(hint) for hint in [*HINTS, *_others]}


def is_sure_name(name: str) -> bool:
    """Return whether a name alone tells that a secret follows."""
    return join_parts(name) in _joined
