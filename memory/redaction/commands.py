"""Options of commands that hold a secret, by the commands."""

MAX_NAME = 200  # characters of a name before a secret
# The value of an option: quoted, or up to the end of the word; no variable and no option.
VALUE = (
    r"(?:'(?P<s>[^'\n]{3,200})'|\"(?P<t>[^\"\n$]{3,200})\"|(?P<u>[^\s\"'$<>\[{(`|;&-][^\s\"'<>`|;&]{2,200}))"
)
WORD = r"[^\s|;&,]{1,100}"

# Options of commands that hold a password: kind -> (hints, what must be before it in its line, option).
COMMANDS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "curl password": (
        ("curl",),
        "curl",
        r"(?<=\s)(?:-[#046fgikLnqsSvN]{0,8}[uU]|--user|--proxy-user)[ =]?[\"']?"
        rf"[^\s:\"']{{1,{MAX_NAME}}}:(?P<s>[^\s\"'$]{{3,}})",
    ),
    "httpie password": (
        ("http -", "https -", " --auth "),
        "https?",
        rf"(?<=\s)(?:-a|--auth)[ =][\"']?[^\s:\"'/]{{1,{MAX_NAME}}}:(?P<s>[^\s\"'$]{{3,}})",
    ),
    "sshpass password": (("sshpass",), "sshpass", rf"(?<=\s)-p[ \t]{{0,5}}{VALUE}"),
    "database password": (("mysql", "mariadb"), "(?:mysql|mariadb)(?:-?[a-z]+)?", rf"(?<=\s)-p{VALUE}"),
    "mongo password": (("mongo",), "mongo[a-z]*", rf"(?<=\s)-p[ \t]{{1,5}}{VALUE}"),
    "cqlsh password": (("cqlsh",), "cqlsh", rf"(?<=\s)-p[ \t]{{1,5}}{VALUE}"),
    "login password": (
        (" login ",),
        r"(?:docker|podman|helm|oras|nerdctl|skopeo|buildah|az|oc)\s(?:[^\s]+\s)?login",
        rf"(?<=\s)-p[ \t]{{0,5}}{VALUE}",
    ),
    # Programs whose option -p is a password.
    "password option": (
        (
            "twine",
            "psexec",
            "rdesktop",
            "ncftp",
            "rabbitmqadmin",
            "cypher-shell",
            "elasticsearch-users",
            "doveadm",
            "useradd",
            "usermod",
            "keychain",
        ),
        r"(?:twine\s+upload|psexec(?:64)?|rdesktop|ncftp\w{1,5}|rabbitmqadmin|cypher-shell|elasticsearch-users"
        r"|doveadm\s+pw|useradd|usermod|security\s+[a-z]+-keychain[a-z-]*)",
        rf"(?<=\s)-p[ \t]{{1,5}}{VALUE}",
    ),
    "device password": (
        ("ipmitool", "mosquitto_"),
        "(?:ipmitool|mosquitto_(?:pub|sub|rr))",
        rf"(?<=\s)-P[ \t]{{1,5}}{VALUE}",
    ),
    "SNMP password": (("snmp",), "snmp[a-z]+", rf"(?<=\s)-[AX][ \t]{{1,5}}{VALUE}"),
    "openssl key": (
        ("openssl",),
        r"openssl\s+(?:enc|aes\S*|des\S*|bf\S*|rc[24]\S*|camellia\S*|aria\S*)",
        rf"(?<=\s)-[kK][ \t]{{1,5}}{VALUE}",
    ),
    "redis password": (
        ("redis-cli", "valkey-cli"),
        "(?:redis|valkey)-cli",
        rf"(?<=\s)(?:-a|AUTH|auth)[ \t]{{1,5}}{VALUE}",
    ),
    "LDAP password": (
        ("ldap", "kadmin", "security add-"),
        r"(?:ldap[a-z]+|kadmin|security\sadd-[a-z]+-password)",
        rf"(?<=\s)-w[ \t]{{0,5}}{VALUE}",
    ),
    "SQL Server password": ((" -P",), "(?:sqlcmd|bcp|osql|isql|tsql)", rf"(?<=\s)-P[ \t]{{0,5}}{VALUE}"),
    "Samba password": (
        ("smb", "rpcclient"),
        "(?:smbclient|rpcclient|smbmap)",
        rf"(?<=\s)-U[ \t]{{0,5}}[\"']?[^\s%\"']{{1,{MAX_NAME}}}%(?P<s>[^\s\"'$]{{3,}})",
    ),
    "archive password": (
        ("zip ", "7z ", "rar "),
        "(?:unzip|zip|7za?|rar|unrar)",
        rf"(?<=\s)-[pP][ \t]?(?=\S{{0,200}}\d){VALUE}",
    ),
    "htpasswd password": (
        ("htpasswd",),
        "htpasswd",
        rf"(?<=\s)-(?=[A-Za-z]{{0,4}}b)(?:[A-Za-z]{{0,4}}n[A-Za-z]{{0,4}}|[A-Za-z]{{1,5}}[ \t]{{1,5}}{WORD})"
        rf"[ \t]{{1,5}}{WORD}[ \t]{{1,5}}{VALUE}",  # with -n there is no file
    ),
}
