"""Secrets that only a name tells of, in sentences, lists and quotes of many languages; and what is none."""

import json
import random
import re
import string

import pytest

from memory.redaction import redact_all, redact_text

MARK = "[redacted: named secret]"
DRAW = random.Random(11)


def draw_password() -> str:
    """Return letters and digits as a generator of passwords draws them, with two digits or more."""
    while True:
        drawn = "".join(DRAW.choice(string.ascii_letters + string.digits) for _ in range(12))
        if sum(map(str.isdigit, drawn)) >= 2 and not drawn[0].isdigit() and not drawn[-1].isdigit():
            return drawn


# Sentences with a secret at {}, and sentences without one, by language.
SECRETS = {
    "en": [
        "password\n{}",
        "The password is\n```\n{}\n```",
        "Password:\n- {}",
        "We changed the password to {} today.",
        "{} is the password for the server.",
        "Log in as bob with {} as password, then go on.",
        'Use "{}" for the admin password',
        "Enter {} (the password).",
    ],
    "de": [
        "Das Kennwort lautet\n{}",
        "{} ist das Passwort für den Server",
        "Geheimwort: {}",
        "Passwort: „{}“",
        "das Passwort auf {} geändert",
        "Zugangscode: »{}«",
    ],
    "fr": [
        "mot de passe : « {} »",
        "{} est le mot de passe.",
        "Le mot de passe est\n{}",
        "le mot de passe a été changé en {}.",
        "Code d'accès : {}",
    ],
    "es": [
        "La contraseña es\n{}",
        "{} es la contraseña de root",
        "contraseña «{}»",
        "Cambiamos la contraseña a {} ayer.",
        "código de acceso: {}",
    ],
    "pt": ["A senha é\n{}", "A senha foi alterada para {}.", "palavra-passe: “{}”", "código de acesso: {}"],
    "it": [
        "La password è\n{}",
        "Parola d'ordine: {}",
        "La password è stata cambiata in {}.",
        "Codice di accesso: {}",
    ],
    "nl": [
        "Het wachtwoord is\n{}",
        "wachtwoord ‘{}’",
        "Het wachtwoord luidt: {}",
        "het wachtwoord veranderd in {}.",
    ],
    "pl": ["Hasło to\n{}", "hasło: „{}”", "Nowe hasło brzmi: {}", "hasło na {}.", "kod dostępu: {}"],
    "ru": [
        "Пароль\n{}",
        "пароль: «{}»",
        "сменили пароль на {}.",
        "Пароль такой:\n```\n{}\n```",
        "кодовое слово: {}",
    ],
    "ja": [
        "{}がパスワードです",
        "パスワードは\n{}",
        "パスワード：「{}」",
        "パスワードを{}に変更しました。",
        "パスワード:\n・{}",
        "合言葉：{}",
    ],
    "zh": [
        "登录密码改成了{}",
        "密码改为 {}",
        "密码换成{}了",
        "密码已重置为{}，",
        "密码是{}",
        "密码：\n- {}",
        "口令“{}”",
    ],
    "ko": ["비밀번호는 {} 입니다", "비밀번호: 「{}」", "비밀번호\n{}", "비밀번호를 {}로 변경", "암호:\n- {}"],
    "sv": ["Lösenordet är\n{}", "Lösenord: ”{}”"],
    "tr": ["Şifre:\n- {}", "Parola {} olarak değiştirildi"],
    "cs": ["Heslo je\n{}"],
    "uk": ["Пароль змінено на {}"],
    "vi": ["Mật khẩu là\n{}"],
}
HARMLESS = {
    "en": [
        "password: ask your admin",
        "password: see the vault",
        "The password is\nin 1Password.",
        "password to server12",
        "bcrypt12 is the password hash.",
        "RSA-2048 is the private key type",
        "src/login2Fa.py is the password reset script",
        "Version v2.3.1-rc4 is the password manager",
        "In 8fG3kQ1z we removed the password.",
    ],
    "de": [
        "Passwort: siehe Tresor",
        "Passwort: mindestens 8 Zeichen",
        "Das Kennwort lautet\nwie immer.",
        "Passwort: „siehe Tresor“",
    ],
    "fr": [
        "mot de passe : au moins 8 caractères",
        "mot de passe : « voir le coffre »",
        "mot de passe changé en 2023",
    ],
    "es": [
        "contraseña: mínimo 8 caracteres",
        "contraseña: ver la caja fuerte",
        "La contraseña es\nobligatoria",
    ],
    "pt": [
        "senha: pelo menos 8 caracteres",
        "senha: consulte o administrador",
        "Esqueceu a senha?\nPasso 1: clique.",
    ],
    "it": ["password: almeno 8 caratteri", "password: vedi cassaforte", "parola d'ordine: semplicità"],
    "nl": ["wachtwoord: minimaal 8 tekens", "wachtwoord: zie de kluis", "wachtwoord: vraag de beheerder"],
    "pl": ["hasło: co najmniej 8 znaków", "hasło: zobacz sejf", "hasło: zapytaj administratora"],
    "ru": ["пароль: не менее 8 символов", "пароль: см. в сейфе", "Пароль\nМинимум 8 символов"],
    "ja": [
        "パスワード：8文字以上",
        "パスワード：金庫を参照",
        "パスワードは\n8文字以上で入力",
        "パスワード：「管理者に確認」",
    ],
    "zh": [
        "密码：请联系管理员",
        "密码：见保险箱",
        "密码：8-20位字母和数字",
        "密码是加密的，使用SHA256算法",
        "密码：「见保险箱」",
    ],
    "ko": ["비밀번호: 8자 이상", "비밀번호：관리자에게 문의", "비밀번호\n최소 8자"],
    "sv": ["lösenord: minst 8 tecken"],
    "tr": ["şifre: en az 8 karakter"],
}


@pytest.mark.parametrize("language", SECRETS)
def test_a_secret_behind_its_name(language):
    for sentence in SECRETS[language]:
        for _ in range(3):
            text = sentence.format(draw_password())
            assert redact_text(text) == sentence.format(MARK), text


@pytest.mark.parametrize("language", HARMLESS)
def test_what_behind_a_name_is_no_secret(language):
    for sentence in HARMLESS[language]:
        assert redact_text(sentence) == sentence


@pytest.mark.parametrize(
    "value",
    ["siehe Tresor", "mínimo 8 caracteres", "ask your admin", "请联系管理员", "8文字以上", "관리자에게 문의"],
)
def test_what_tells_where_a_password_is_stays_in_json(value):
    assert redact_all({"password": value}) == {"password": value}
    assert redact_all({"password": f"{value}! qX7-vm2z"}) != {"password": f"{value}! qX7-vm2z"}


@pytest.mark.parametrize("alphabet", [string.ascii_lowercase, string.ascii_uppercase, string.ascii_letters])
def test_a_token_of_letters_alone(alphabet):
    """Draw letters behind a name: no words have most of their pairs."""
    tokens = ["".join(DRAW.choice(alphabet) for _ in range(28)) for _ in range(200)]
    kept = [token for token in tokens if redact_text(f"API token: {token}") != f"API token: {MARK}"]
    assert len(kept) <= 6
    for word in (
        "internationalization",
        "Donaudampfschifffahrtsgesellschaft",
        "AbstractTokenProviderFactory",
    ):
        assert redact_text(f"API token: {word}") == f"API token: {word}"


def test_the_column_of_a_table():
    head, secrets = "| Service | Password | Notes |\n|---|:--|---|\n", [draw_password() for _ in range(3)]
    rows = [f"| host{n} | {{}} | since 2024-05-0{n}, A1b2C3d4 |" for n in range(3)]
    text = head + "\n".join(rows) + "\n\nA1b2C3d4 stays.\n"
    assert redact_text(text.format(*secrets)) == text.format(*[MARK] * 3)
    plain = head + "| host1 | see vault | x |"
    assert redact_text(plain) == plain


def test_a_sign_at_its_end():
    for sentence in ("Password:\n- {}", "das Passwort ist {}.", "密码改成了{}", "contraseña «{}»"):
        assert redact_text(sentence.format("Sommer2024!")) == sentence.format(MARK)


WORDS_OF_COMMANDS = [
    ["sshpass", "-p", "{}", "ssh", "h"],
    ["/usr/bin/sshpass", "-p", "{}", "ssh"],
    ["mysql", "-u", "root", "-p{}"],
    ["curl", "-u", "bob:{}", "https://x.y"],
    ["--password", "{}"],
    ["--token", "{}"],
    ["docker", "login", "-u", "bob", "-p", "{}", "ghcr.io"],
    ["redis-server", "--requirepass", "{}"],
]
PLAIN_WORDS = [
    ["-p", "8080:80"],
    ["docker", "run", "-p", "8080:80", "curl"],
    ["-p", "src"],
    ["mysql", "-u", "root", "-p"],
    ["--password", "$PASS"],
    ["--token", "TOKEN"],
    ["password", "login2fa", "abcd1234"],
]


@pytest.mark.parametrize("words", WORDS_OF_COMMANDS, ids=" ".join)
def test_a_command_that_is_a_list_of_words(words):
    secret = draw_password()
    found = redact_all({"args": [word.format(secret) for word in words]})["args"]
    assert [re.sub(r"\[redacted: [^]]*\]", "{}", word) for word in found] == words
    for text in (json.dumps(words), str(words), json.dumps(json.dumps(words)), f"run({words}, check=True)"):
        found = redact_text(text.replace("{}", secret))
        assert re.sub(r"\[redacted: [^]]*\]", "{}", found) == text


@pytest.mark.parametrize("words", PLAIN_WORDS, ids=" ".join)
def test_a_list_of_words_that_holds_no_secret(words):
    assert redact_all(words) == words
    assert redact_text(json.dumps(words)) == json.dumps(words)


SHORT_JSON = [{"headers": [["Authorization", "Bearer a1b2"]]}, {"pin": 1234}, {"db_pass": 123456}]
SECRET_JSON = [
    {"headers": [["Authorization", "Bearer {}"]]},
    {"headers": [["Cookie", "theme=dark; sessionid={}"], ["Accept", "text/html"]]},
    {"headers": {"Cookie": "sessionid={}"}},
    {"Set-Cookie": "sid={}; Path=/"},
    {"auth": "Basic {}"},
    {"password": {"value": "{}", "length": 12}},
    {"DB_PASS": {"default": "{}"}},
    {"passwords": ["{}", "{}"]},
    {"tokens": ["{}"]},
    {"pw": "{}"},
    {"Passwort für VPN": "{}"},
    {"password for the server": "{}"},
    {"note": "Passwort:", "next": "{}"},
    [{"text": "The password is:"}, {"text": "{}"}],
    ["user", "bob", "password", "{}"],
    {"title": "Passwort", "content": "{}"},
    {"Key": "DB_PASSWORD", "Value": "{}"},
    {"ParameterKey": "DbPassword", "ParameterValue": "{}"},
    {"password": {"current": "{}"}},
    {"passwords": {"bob": "{}"}},
    {"SecretString": "{}"},
    {"cmd": ["net", "use", "z:", "/user:me", "{}"]},
]
PLAIN_JSON = [
    {"tokens": [1, 2]},
    {"tokens": ["hello", "world"]},
    {"passwords": ["old", "new"]},
    {"cookie": "accepted"},
    {"Cookie": "theme=dark; lang=en"},
    {"auth": "none"},
    {"auth": "oauth2"},
    {"headers": [["Authorization", "none"], ["Accept", "text/html"]]},
    {"password": {"type": "string", "minLength": 8, "default": "string"}},
    {"pw": "ok"},
    {"Passwort vergessen": "ja, geht"},
    {"password for the server": "see vault"},
    {"secret": {"path": "vault/kv1"}},
    {"note": "Passwort:", "next": "siehe Wiki"},
    {"label": "Password", "hint": "at least 8", "id": "input-3f2a"},
    {"type": "token", "value": "function"},
    {"password": {"label": "Password", "rules": ["min8", "a-z"]}},
    {"pin": 12, "tokens": 5000},
]


@pytest.mark.parametrize("value", SECRET_JSON, ids=json.dumps)
def test_a_secret_in_json(value):
    secret = "Qz8C3J27XDCG"
    found = json.dumps(redact_all(json.loads(json.dumps(value).replace("{}", secret))))
    assert secret not in found
    assert re.sub(r"(?:(?:Bearer|Basic) )?(?:\[redacted: [^]]*\]|\{\})", "", found) == re.sub(
        r"(?:(?:Bearer|Basic) )?\{\}", "", json.dumps(value)
    )


@pytest.mark.parametrize("value", SHORT_JSON, ids=json.dumps)
def test_a_short_secret_in_json(value):
    assert json.dumps(redact_all(value)).count(MARK) == 1


@pytest.mark.parametrize("value", PLAIN_JSON, ids=json.dumps)
def test_json_that_holds_no_secret(value):
    assert redact_all(value) == value
