"""The names under which people and programs write secrets, in the languages of their users."""

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import cache

from memory.patterns import lazy_pattern
from memory.redaction.spans import JOINER, join_forms

# What follows such a name is a secret unless it looks like code or prose.
PASSWORDS = (
    "password passwd passphrase passcode passwort passworts kennwort kennworts geheimwort geheimzahl codewort"
    " losungswort zugangscode zugangswort wachtwoord toegangscode"
    " lösenord lösenordet adgangskode adgangskoden kodeord passord passordet"
    " salasana salasanan hasło heslo hesla heslem jelszó jelszava parolă parolası"
    " şifre şifresi lozinka geslo zaporka mdp contraseña contrasenya senha pasahitza parool parole"
    " slaptažodis пароль пароля паролем паролю парола лозинка κωδικός συνθηματικό"
    " סיסמה סיסמא"
    " गुप्तशब्द पासवर्ड পাসওয়ার্ড รหัสผ่าน 密码 密碼 密匙 密语 授权码 授權碼 口令 暗号 暗證 通行码 通行碼"
    " パスワード パスフレーズ パスコード 暗証番号 暗証コード 合言葉 비밀번호 비밀코드 비번 패스워드 암호"
    " 密钥 密鑰 金鑰 私钥 令牌 秘密鍵 비밀키"
).split()
PASSWORD_PHRASES = (
    "mot de passe",
    "mots de passe",
    "phrase secrète",
    "code secret",
    "code confidentiel",
    "mot secret",
    "palabra secreta",
    "geheim woord",
    "секретное слово",
    "código secreto",
    "palabra de paso",
    "palavra passe",
    "code d'accès",
    "código de acceso",
    "código de acesso",
    "codice di accesso",
    "codice d'accesso",
    "kod dostępu",
    "код доступа",
    "кодовое слово",
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
    "ssh pass",
    "dbpass",
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
    "zugriffsschlüssel",
    "geheimer schlüssel",
    "clé api",
    "clé d'api",
    "clé secrète",
    "clé d'accès",
    "jeton d'accès",
    "clave api",
    "clave de api",
    "clave secreta",
    "clave de acceso",
    "chave api",
    "chave de api",
    "chave da api",
    "chave secreta",
    "chave de acesso",
    "chiave api",
    "chiave segreta",
    "chiave di accesso",
    "api sleutel",
    "toegangssleutel",
    "geheime sleutel",
    "klucz api",
    "klucz dostępu",
    "api nyckel",
    "klíč api",
    "api anahtarı",
    "khóa api",
    "api ключ",
    "ключ api",
    "ключ доступа",
    "секретный ключ",
    "закрытый ключ",
    "токен доступа",
    "apiキー",
    "api キー",
    "アクセスキー",
    "シークレット",
    "api 키",
    "액세스 키",
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


PLAIN = str.maketrans("ıłø", "ilo")  # letters that are not put together of others


def list_forms(name: str) -> set[str]:
    """Return a name as it may be written: composed or not, without accents."""
    composed, apart = (unicodedata.normalize(form, name) for form in ("NFC", "NFD"))
    latin = all("a" <= sign <= "ɏ" or not sign.isalpha() for sign in composed)
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign)).translate(PLAIN)
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


def find_starts(folded: str, letters: str) -> Iterator[int]:
    """Yield where a name may begin, as a hint is in its place in one; ``letters`` are those of ASCII."""
    for hint in filter(letters.__contains__, HINTS):
        for place in find_places(folded, hint):
            before = folded[place - 1 : place]
            is_inner = before.isalnum() or before in JOINERS or before > "~"
            for offset in _offsets[hint] if is_inner else FIRST_OFFSET:
                if folded[place - offset : place - offset + HEAD_LENGTH] in _heads:
                    yield place - offset


def find_names(folded: str, letters: str) -> Iterator[re.Match[str]]:
    """Yield the names in a folded text."""
    starts = set(find_starts(folded, letters))
    names = [found for start in starts if (found := NAME.match(folded, start))]
    if not folded.isascii():
        names += OTHER_NAME.finditer(folded)
    end = 0
    for found in sorted(names, key=re.Match.start):
        if found.start() >= end:
            end = found.end()
            yield found


_sure = {
    form for name in [*PASSWORDS, *PASSWORD_PHRASES, *KEYS, "pwd", "secret"] for form in list_forms(name)
}
_words = {form for name in WORDS for form in list_forms(name)}
_others = {form for form in _sure | _words if form[0] > "~"}
_joined = set(map(join_parts, _sure))


def compile_names(forms: Collection[str]) -> re.Pattern[str]:
    """Return a pattern of names, which may have a number."""
    return lazy_pattern(rf"(?P<name>{join_forms(forms)})(?:_?\d{{1,2}})?(?![a-z0-9à-ɏ])")


NAME, OTHER_NAME = compile_names(_sure | _words), compile_names(_others)
# Every name that begins with a letter of ASCII has one of them.
HINTS = (
    "pas key pwd secr token code pin ord wort clave senha cred segret paro jeton gang geheim mdp salasana esl"
    " jelsz ifre lozinka zaporka contrase slapta kata ssel api acc acess dost has kh"
).split()


def list_offsets(hint: str) -> set[int]:
    """Return where a hint may stand in a name, with or without signs that join its words."""
    places = ((form, place) for form in (_sure | _words) - _others for place in find_places(form, hint))
    return {
        offset for form, place in places for offset in range(place - form.count(" ", 0, place), place + 1)
    }


_offsets = {hint: list_offsets(hint) for hint in HINTS}
FIRST_OFFSET, JOINERS = (0,), " _.-'"
HEAD_LENGTH = 3  # first letters of a name, which are sooner compared than the name
_heads = {form[:HEAD_LENGTH] for form in _sure | _words}


@cache
def is_sure_name(name: str) -> bool:
    """Return whether a name alone tells that a secret follows."""
    return join_parts(name) in _joined
