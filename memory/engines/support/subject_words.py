"""What rules are often about, in seven languages: the first word of a line stands for the others.

A word is here only where it hardly means anything else in one of the languages: "file" is a queue in French.
"""

from memory.patterns import lazy_pattern
from memory.texts import count_dense

_SAME = """
english englisch anglais inglés inglês 英语 英文 英語
german deutsch allemand alemán alemão 德语 德文
french französisch français francés francês 法语
spanish spanisch espagnol español espanhol 西班牙语
chinese chinesisch chinois chino chinês 中文 汉语
monday mondays montag montags lundi lunes segunda-feira 周一 星期一 月曜日
tuesday tuesdays dienstag dienstags mardi martes terça-feira 周二 星期二 火曜日
wednesday wednesdays mittwoch mittwochs mercredi miércoles quarta-feira 周三 星期三 水曜日
thursday thursdays donnerstag donnerstags jeudi jueves quinta-feira 周四 星期四 木曜日
friday fridays freitag freitags vendredi viernes sexta-feira 周五 星期五 金曜日
tab tabs tabulatoren tabulator tabulations tabulaciones
space spaces leerzeichen espaces espacios espaços 空格
max maximum maximal cap limit máximo 上限
min minimum least mindestens mínimo 至少 最少
direct directly straight directement direkt directamente diretamente
manual manually hand manuell manuelle manuellen händisch manuel manuelle mano mão 手动 手動 手工
automatic automatically automated automatisch automatique automatiquement automático 自动 自動
retry retries wiederholung wiederholungen wiederholversuche tentatives reintento reintentos tentativas
    重试 重試 リトライ 再試行
attempt attempts versuch versuche essai essais intento intentos 尝试 試行
timeout timeouts zeitlimit zeitüberschreitung délai délais 超时 超時 タイムアウト
port ports puerto puertos porta portas 端口 ポート
password passwords passwort passwörter kennwort kennwörter contraseña contraseñas senha senhas 密码 密碼
    パスワード
session sessions sitzung sitzungen sesión sesiones sessão sessões 会话 會話 セッション
page pages seite seiten página páginas 页面 ページ
user users benutzer nutzer utilisateur utilisateurs usuario usuarios usuário usuários 用户 用戶 ユーザー
    ユーザ
test tests prueba pruebas teste testes 测试 測試 テスト
database databases datenbank datenbanken 数据库 資料庫 データベース
backup backups datensicherung datensicherungen sauvegarde sauvegardes respaldo respaldos 备份 備份
    バックアップ
cache caché 缓存 快取 キャッシュ
queue queues warteschlange warteschlangen cola colas fila filas 队列 佇列 キュー
branch branches zweig zweige branche rama ramas 分支 ブランチ
invoice invoices rechnung rechnungen facture factures factura facturas fatura faturas 发票 發票 請求書
report reports bericht berichte rapport rapports informe informes relatório relatórios 报告 報告 レポート
comment comments kommentar kommentare commentaire commentaires comentario comentarios comentário
    comentários 注释 コメント
message messages nachricht nachrichten mensaje mensajes mensagem mensagens 消息 メッセージ
request requests anfrage anfragen requête requêtes petición peticiones requisição requisições 请求 リクエスト
error errors fehler erreur erreurs errores erro erros 错误 錯誤 エラー
price prices preis preise prix precio precios preço preços 价格 價格 価格
amount amounts betrag beträge montant montants importe importes 金额 金額
line lines zeile zeilen lignes líneas linhas
character characters zeichen caractère caractères carácter caracteres caractere 字符
indentation indent einrückung indentación sangría indentação 缩进 縮排 インデント
file files datei dateien fichier fichiers archivo archivos fichero ficheros arquivo arquivos 檔案 ファイル
function functions funktion funktionen fonction fonctions función funciones função funções 函数 関数
variable variables variablen variável variáveis 变量 変数
table tables tabelle tabellen tabla tablas tabela tabelas テーブル
column columns spalte spalten colonne colonnes columna columnas coluna colunas カラム
field fields feld felder champ champs campo campos 字段 フィールド
version versions versionen versión versiones versão versões 版本 バージョン
deploy deploys deployment deployments bereitstellung déploiement déploiements despliegue despliegues 部署
    デプロイ
review reviews revue revisión revisão 评审 レビュー
interval intervals intervall intervalle intervalo intervalos 间隔 間隔
connection connections verbindung verbindungen connexion connexions conexión conexiones conexão conexões
    连接 接続
thread threads hilo hilos 线程 スレッド
token tokens 令牌 トークン
image images bild bilder imagen imágenes imagem imagens 图片 画像
button buttons knopf knöpfe schaltfläche bouton boutons botón botones botão botões 按钮 ボタン
mail mails email emails e-mail e-mails correo correos 邮件 郵件 メール
server servers serveur serveurs servidor servidores 服务器 サーバー サーバ
language languages sprache sprachen langue langues idioma idiomas 语言 言語
"""
LINES = _SAME.replace("\n    ", " ").strip().splitlines()
SYNONYMS = {word: words.split()[0] for words in LINES for word in words.split()}
_DENSE = sorted(filter(count_dense, SYNONYMS), key=len, reverse=True)
KNOWN_DENSE = lazy_pattern(f"({'|'.join(_DENSE)})")
