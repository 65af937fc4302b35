"""What rules are often about, in seven languages, by which statements of two languages are compared.

A word is here only where it hardly means anything else in one of the languages: "file" is a queue in French.
"""

from functools import lru_cache

from memory.engines.statements.claims import cut
from memory.patterns import lazy_pattern
from memory.texts import count_dense

CACHE_SIZE = 4096
_SAME = """
retry retries wiederholung wiederholungen wiederholversuche tentatives reintento reintentos tentativas
    重试 重試 リトライ 再試行
attempt attempts versuch versuche essai essais intento intentos 尝试 試行
timeout timeouts zeitlimit zeitüberschreitung tiempo_de_espera tempo_limite délai délais 超时 超時
    タイムアウト
port ports puerto puertos porta portas 端口 ポート
password passwords passwort passwörter kennwort kennwörter mot_de_passe mots_de_passe contraseña
    contraseñas senha senhas 密码 密碼 パスワード
session sessions sitzung sitzungen sesión sesiones sessão sessões 会话 會話 セッション
page pages seite seiten página páginas 页面 ページ
user users benutzer nutzer utilisateur utilisateurs usuario usuarios usuário usuários 用户 用戶 ユーザー
    ユーザ
test tests prueba pruebas teste testes 测试 測試 テスト
database databases datenbank datenbanken base_de_données base_de_datos banco_de_dados 数据库 資料庫
    データベース
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
request requests anfrage anfragen requête requêtes petición peticiones requisição requisições 请求
    リクエスト
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
log logs logfile logfiles logdatei logdateien protokoll protokolle journaux 日志 日誌 ログ
upload uploads téléversement téléversements subida subidas 上传 アップロード
download downloads téléchargement téléchargements descarga descargas 下载 ダウンロード
trial trials probezeit testphase 试用 トライアル
width breite largeur anchura ancho largura 宽度 幅
height höhe hauteur altura 高度 高さ
length länge longueur longitud comprimento 长度 長さ
size größe taille tamaño tamanho 大小 サイズ
coverage abdeckung testabdeckung couverture cobertura 覆盖率 カバレッジ
order orders bestellung bestellungen commande commandes pedido pedidos 订单 注文
window windows fenster fenêtre fenêtres ventana ventanas janela janelas 窗口 ウィンドウ
trip trips fahrt fahrten trajet trajets viaje viajes viagem viagens 行程
customer customers kunde kunden cliente clientes 客户 客戶 顧客
refund refunds erstattung erstattungen remboursement remboursements reembolso reembolsos 退款 返金
payment payments zahlung zahlungen paiement paiements pago pagos pagamento pagamentos 支付 支払い
discount discounts rabatt rabatte remise remises descuento descuentos desconto descontos 折扣 割引
notification notifications benachrichtigung benachrichtigungen notificación notificaciones notificação
    notificações 通知
appointment appointments termin termine rendez-vous cita citas 预约 予約
booking bookings buchung buchungen réservation réservations reserva reservas 预订
account accounts konto konten compte comptes cuenta cuentas conta contas 账户 账号 アカウント
role roles rolle rollen rôle rôles 角色 ロール
permission permissions berechtigung berechtigungen autorisation autorisations permiso permisos permissão
    permissões 权限 権限
process processes prozess prozesse processus proceso procesos processo processos 进程 プロセス
memory speicher mémoire memoria memória 内存 メモリ
environment environments umgebung umgebungen environnement entorno ambiente 环境
production produktion producción produção 本番
folder folders ordner verzeichnis dossier dossiers carpeta carpetas pasta pastas 目录 フォルダ
colour colours color colors farbe farben couleur couleurs colores cor cores 颜色
title titles titel titre titres título títulos 标题 タイトル
list lists liste listen lista listas 列表 リスト
date dates datum fecha fechas 日期 日付
currency währung devise moneda moeda 货币 通貨
address addresses adresse adressen adresses dirección direcciones endereço endereços 地址 住所
translation translations übersetzung übersetzungen traduction traductions traducción traducciones tradução
    traduções 翻译 翻訳
documentation docs dokumentation doku documentación documentação 文档 ドキュメント
class classes klasse klassen classe clase clases クラス
module modules modul módulo módulos 模块 モジュール
parameter parameters paramètre paramètres parámetro parámetros parâmetro parâmetros 参数 パラメータ
exception exceptions ausnahme ausnahmen excepción excepciones exceção exceções 异常 例外
transaction transactions transaktion transaktionen transacción transacciones transação transações 事务
    トランザクション
index indexes indizes índice índices 索引 インデックス
key keys schlüssel clé clés clave claves chave chaves 密钥 キー
archive archived archiviert archivés archivados arquivados 归档
weekend weekends wochenende wochenenden fin_de_semana fim_de_semana 周末 週末
saturday saturdays samstag samstags samedi sábado sábados 周六 星期六 土曜日
sunday sundays sonntag sonntags dimanche domingo domingos 周日 星期日 日曜日
meeting meetings besprechung besprechungen réunion réunions reunión reuniones reunião reuniões 会议 会議
threshold thresholds schwelle schwellwert seuil seuils umbral 阈值 しきい値
"""
_LINES = [
    [word.replace("_", " ") for word in line.split()]
    for line in _SAME.replace("\n    ", " ").strip().splitlines()
]
FIRST_WORDS = {word: words[0] for words in _LINES for word in words}  # by each of their words
_KNOWN = sorted(FIRST_WORDS, key=len, reverse=True)
_DENSE = "|".join(word for word in _KNOWN if count_dense(word))
_SPACED = "|".join(word for word in _KNOWN if not count_dense(word))
KNOWN = lazy_pattern(rf"\b(?:{_SPACED})(?!\w)|(?:{_DENSE})")


@lru_cache(CACHE_SIZE)
def translate(text: str) -> str:
    """Return a text with the English word for each that is known."""
    return KNOWN.sub(lambda match: f" {FIRST_WORDS[match.group()]} ", text.lower())


@lru_cache(CACHE_SIZE)
def list_subjects(text: str) -> frozenset[tuple[str, str]]:
    """Return the roots of the known words of a text, each behind the English word."""
    return frozenset((FIRST_WORDS[word], cut(word)) for word in KNOWN.findall(text.lower()))


def share_translated(one: str, other: str) -> bool:
    """Return whether two texts name a subject in words of other roots."""
    return bool(list_translated(one, other))


def list_translated(one: str, other: str) -> frozenset[str]:
    """Return the subjects that two texts name in words of other roots."""
    words, others = list_subjects(one), list_subjects(other)
    same = {subject for subject, _ in words & others}
    return frozenset({subject for subject, _ in words} & {subject for subject, _ in others} - same)


def list_translations(text: str) -> list[str]:
    """Return the words for what a text names, in all languages."""
    subjects = {subject for subject, _ in list_subjects(text)}
    return [word for words in _LINES if words[0] in subjects for word in words]
