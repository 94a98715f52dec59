"""Sentences by which the person lays something down, in English and Chinese: must, never, leave it alone, 必须, 别动.

Questions, reports of what happens, lines of code and of logs lay nothing down, whatever words they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codeagent.memory.chinese import simplified
from codeagent.text.patterns import late

_LONGEST = 400
"""Characters of one sentence; what is longer is no rule but a paragraph, and is cut."""

_ENDS = late(r"(?<=[。！？!?；;])|(?<=[.])(?=\s)|\n")
_SAYS = late(
    r"\b(?:must(?:n[’']?t)?|never|always|shall|should(?:n[’']?t)?|ought to|(?:have|has|had better"
    r"|needs?) (?:\w+ ){0,2}to\b"
    r"|do(?:es)? not|don[’']?t|cannot|can[’']?t|can not|may not|may only|not allowed|not permitted|forbid(?:den)?"
    r"|prohibit(?:ed)?|off[ -]limits|hands off|under no circumstances|on no account|no (?:more|less|fewer|later) than"
    r"|at (?:least|most)|at the latest|exactly|only|solely|avoid|refrain|required?|ensure|make sure|be sure"
    r"|remember|mind that|keep in mind|from now on|from here on|going forward|in (?:the )?future|every time|each time"
    r"|whenever|without|instead of|rather than|except(?: for)?|prefer(?:red|ably)?|mandatory|compulsory"
    r"|unless (?:i|we|told|you)|until (?:i|we|told)|(?:before|after) (?:every|each|any)|keep|stays?|remains?"
    r"|un(?:changed|touched|touchable|modified)|intact|as (?:it|they) (?:is|are)|as[- ]is|leave \S.*\b(?:alone"
    r"|be|out)|stick (?:to|with)"
    r"|backwards?[ -]compatib\w+|by default|as a rule|in all cases|no matter|ask (?:me )?(?:first|before)"
    r"|check with me"
    r"|is a must|is important|read[- ]only|steer clear|stay away|my (?:approval|permission|consent|ok(?:ay)?"
    r"|yes)|do nothing"
    r"|(?:make|take|add|use|change|introduce|create|install|touch) no|(?:all|any|every) future)\b",
    re.I,
)
_ORDERS = late(
    r"^(?:(?:please|pls|and|also|then|but|so|again|finally|remember|note|rule \d+|ok(?:ay)?|yes)\b[\s:,]*)*(?:"
    r"(?:use(?! (?:the|an?|your) \w+ to\b)|follow|mind the|respect|preserve|maintain|restrict|limit|cap|support"
    r"|target|adhere|comply|honou?r|prefix|suffix)\b"
    r"|(?:no|zero) (?:\w+[ -]){0,3}\w+(?: (?:please|allowed|anywhere|at all|here|in|under|to|besides|beyond"
    r"|other)\b.*)?\W*$"
    r"|(?:nothing|nobody|no one|none)\b(?!(?: \w+)? (?:happen|work|chang|help|was|is wrong|seem))"
    r"|not? (?:\w+ ){0,3}(?:in|under|outside|to|without)\b"
    r"|(?:every|each) (?!time|one of)\w+|(?:any|all) (?:new |public |of )?\w+ (?:\w+ )?(?:goes?|go in|use|uses"
    r"|lives?|gets?|needs?|ha(?:s|ve)|begins?|ends?|starts?|are (?:in|to))\b"
    r"|(?:write|put|name|log|store|format|indent|document|return|commit|express|give|answer|reply|respond"
    r"|comment|represent|encode|treat|assume|quote|label|sign)\b"
    r".*\b(?:all|every|each|any|in (?:english|chinese|german|french|japanese|upper|lower|camel|snake|utc|cents"
    r"|json|utf)|as (?:integers?|cents|utc|strings?)|with (?:tabs|spaces|\d))\b"
    r"|run .*\b(?:before|after)\b|(?:all |every )?(?:\w+ )?(?:commits?|comments?|messages?|names?|code|docs?"
    r"|logs?|tests?) (?:\w+ )?(?:in|with|under) (?:english|chinese|\w+[ _]case|tabs|\w+ spaces|\d)"
    r"|(?:speak|answer|reply|respond|write|talk) (?:in )?(?:english|chinese|german|french|japanese)\b"
    r"|(?!i\b|we\b|you\b|let\b|the\b)(?:\w+ ){1,3}(?:go|goes|belongs?|lives?) (?:in|to|under|into)\b"
    r")",
    re.I,
)
"""Requests at the beginning of a sentence that hold for more than one deed."""
_STATES = late(
    r"\b(?:limit|maximum|minimum|max|min|deadline|budget|ceiling|cap)\b.{0,40}\b(?:is|are|of|=|:)\s*\D{0,12}\d"
    r"|, not (?!sure|yet|now|bad|really)\w|\b(?:camel|snake|pascal|kebab)[ _-]?case\b"
    r"|(?:^|[,;] )no (?!problem|idea|worries|thanks?|luck|doubt|wait|longer"
    r"|error)\w[\w -]{1,30}(?:,? no \w[\w -]{1,30})*\W*$"
    r"|\bi (?:want|need|expect) (?:no|all|every|only|everything|nothing)\b|\b(?:we|you) (?:only|never|always"
    r"|don[’']t) \w+",
    re.I,
)
_CHINESE = late(
    r"必须|必需|(?<!无)(?<!胡)须(?!知)|务必|一定(?:要|得|不|别|用|是)|不(?:要(?!紧|求)|得(?!不|已|了)|许|准"
    r"|可(?!能|见|思)|应|该|允许|超过|大于|小于|少于|低于|高于|多于|早于|晚于)"
    r"|不能(?!正常|运行|工作|启动|编译|打开|连接|复现|用了|登录|访问|识别|显示|加载)|禁止|严禁|禁用|切勿|切忌"
    r"|请勿|勿|莫要|甭|休想"
    r"|(?<![区级类性特分识个辨差告鉴派送有道离])别(?![人的处致扭称名墅])|只(?:能|用|准|许|在|可|改|动|写|支持"
    r"|允许|使用|接受|依赖|保留|限|返回(?!了)|有(?!一[个次]|两|几|\d|这么?))"
    r"|仅(?:限|用|在|能|允许|支持|可|使用|供|对|改|由)|记住|记得|谨记|牢记|一律|始终|总要|永远(?!不会)|千万"
    r"|绝(?:对)?(?:不|别)|决不|应当|应该(?![是没会可已就有]|不会|还)|应(?=使用|用|为|在|以|保|避|尽|与|符)"
    r"|需要?(?=兼容|支持|保|用|遵|先|加|写|通过|经|在|能|考虑|符)|(?<![需重主想只快概摘不还纪首就])要(?=求|用|保"
    r"|支持|兼容|先|写|加|以|在|遵|有|能|符|通过|跟|和|与)"
    r"|保(?:持|留|证)|维持|统一|以内|上限|下限|不变|原样|原封不动|照旧|至少|至多|最多|最少|以后(?:都|要|请|不|别"
    r"|就|每|一|只|用)|今后|往后|从现在(?:起|开始)|从今"
    r"|每次(?!都?(?:失败|报错|超时|挂|崩|出错))|每(?:个|一|条|份)[^，。]{0,12}(?:都|要|必|得|应|用|以|不)|凡是?"
    r"|所有[^，。]{0,16}(?:都|要|必|得|应|用|以|不|放|写|均|统)|任何[^，。]{0,16}(?:都|要|必|得|应|不|均)"
    r"|都(?:用|要|得|放|写|以|按|走|加|别|不[要能得许准可动改用])"
    r"|均(?:用|要|须|应|为|以|按)|确保|优先|首选|避免|尽量|尽可能|沿用|遵[守循照从]|符合|除非|默认|规定|约定"
    r"|底线|红线|碰都|不(?:用|必)(?:改|动|加|管|兼容|考虑|支持)|无[需须](?:改|动|加|管|兼容|考虑|支持)|不(?:动"
    r"|改|碰|加|引入|使用|依赖|删|新增|提交|推送|用)(?![了过])"
    r"|(?:^|[，,：:。]|请|都|码|释|志|档|息|名|量|额|间|进|试)用[^，。了过]{1,12}(?:写|缩进|表示|命名|存|格式"
    r"|风格|注释|编写|实现|记录|返回|回答|回复|输出|编码|提交|单位|测试)|用(?:简体|繁体)?(?:中|英|日)文|用繁体"
    r"|用简体|以.{1,8}(?:为准|为单位|开头|结尾)|才(?:能|可以|准|许)|之前(?:先|要|必)"
    r"|用[一二三四五六七八九十两\d]+个?空格|(?:缩进|命名|类名|变量名|函数名|变量|函数|类).{0,6}(?:空格|驼峰"
    r"|下划线|大写|小写|制表符|tab)"
    r"|(?:^|[，,要须需请])兼容(?!性)|固定(?:为|在|是|成)?\s?\d|我(?:的)?(?:同意|批准|允许|许可)|完(?:了"
    r"|成)?(?:都|后|之后)?要|杜绝|谢绝|拒绝(?!了|服务|连接|访问)"
    r"|先.{1,12}(?:再|才|后)(?:[^了]|$)|不在?(?:.{1,8})(?:范围|许可)|不(?:允许|接受|考虑)",
)
_ASKS = late(r"[?？]\W*$|[吗呢]\W*$|^\W*(?:为什么|怎么|怎样|如何|是否|是不是|要不要|能不能|会不会|有没有|哪)")
_ASKS_POLITELY = late(
    r"^\W*(?:please|can you|could you|would you|will you|请|麻烦)\b.*\b(?:keep|leave|make sure|ensure|avoid"
    r"|always|never|only|not|use)\b"
    r"|^\W*(?:请|麻烦)",
    re.I,
)
_REPORTS = late(
    r"\b(?:always|never|only|keeps?|exactly|stays?|remains?|still|just|without|at (?:least"
    r"|most)) (?:\w+ )?(?:fail|work|happen|pass|crash|break|return|show|hang|"
    r"appear|occur|get|complain|time|throw|print|see|saw|forgot|forget|was|were|had|did|took|ran|got|broke|came"
    r"|gave|went|tried|noticed|heard|used to|slow|stuck|red|green|empty|broken)\w*\b"
    r"|\b(?:i|we|he|she|they) (?:\w+ )?(?:had to|needed to|didn[’']t|couldn[’']t|wasn[’']t|tried|noticed|thought"
    r"|wondered|remember when|remembered|forgot|used to)\b"
    r"|\b(?:it|this|that|which|test|tests|build|server|code|script|page|job|nothing|function|it all) (?:does not"
    r"|doesn[’']?t|do not|don[’']?t|cannot|can[’']?t|can not|has to be|seems to|never) "
    r"(?:work|build|compile|start|run|pass|find|seem|load|open|help|respond|exist|return|matter|happen|connect"
    r"|look|make sense)\w*"
    r"|\bi (?:do not|don[’']?t|can[’']?t|cannot) (?:know|understand|see|remember|get|find|think|care|reproduce"
    r"|tell|recall)\b"
    r"|^(?:each|every) .*\b(?:took|was|were|had|failed|passed|did|got|showed|came)\b"
    r"|\bshould (?:be (?:fine|ok|okay|enough|done|easy)|work|help|do it)\b|\bthe only (?:thing|one|way|problem"
    r"|question)\b|\bnot only\b|\bif only\b"
    r"|\b(?:it|he|she|this|that|they|(?:the|this|that|our|my) \w+) (?:always|never|only|just|still) \w+(?:s|ed)\b"
    r"|\b(?:don[’']?t (?:worry|mind|bother)|never mind|i (?:have|need|had|got) to)\b"
    r"|\bexactly what\b|\bmust have (?:been|\w+ed)\b|\bno (?:problem|idea|worries|thanks?|luck|doubt"
    r"|matter what happened)\b|\bremember(?:ed)? (?:when|the time|how)\b"
    r"|\bwithout (?:success|luck|any (?:luck|success|error))\b|\bkeep (?:up|going|trying|getting|seeing"
    r"|running into)\b|\bkeeps? \w+ing\b",
    re.I,
)
_REPORTS_CHINESE = late(
    r"(?:总是|一直|每次|始终|永远|都|从来)[^，。]{0,6}(?:失败|报错|超时|挂|崩|出错|卡|慢|不对|不行|没反应)"
    r"|不得不|不要紧|不能不|要不是|不得而知|我(?:不|没)(?:知道|明白|懂|记得|确定|清楚|看)"
    r"|(?:程序|服务|测试|页面|脚本|它|这里|代码|项目|系统)[^，。]{0,4}不能(?:用|跑|动)|记得(?:上次|当时|以前|吗)"
    r"|昨天|上周|刚才|当时|之前(?:一直|总|都|我)|已经|了$|不要脸|别说|别提|才(?:能|可以)看"
    r"|只[在有][^，。]*(?:失败|报错|出现|发生|挂|崩|出错|超时)"
)
_CODE = late(
    r"^\s*<[a-z/!][^>]*>|^\s*(?:def |class |import |from \S+ import |return\b|if .*[:{]$|for .*[:{]$"
    r"|while .*[:{]$|elif |else[:{]|try[:{]|except\b.*:$|@\w+\b|#include|//|/\*|\$ |>>> |\+\+\+ |--- |@@|async "
    r"|const |let |var |func |fn |public |private |assert |raise |throw )"
    r"|[;{}]\s*$|^\s*[\w.\[\]\"']+\s*(?:=|:=|\+=|==|->)\s*\S|^\s*[\w.]+\([^)]*\)\s*$"
    r"|^\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d"
    r"|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b"
    r"|Traceback|at \S+\(|File \"|\w*(?:Error|Exception): )",
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of `text`, marks of lists and blanks around them taken off."""
    for piece in _ENDS.split(text):
        if piece and (found := piece.strip().lstrip("-*•·#>").strip()):
            yield found


def rules(text: str) -> list[str]:
    """Sentences that lay something down, each once and in order; a very long one in part."""
    found = (one[:_LONGEST] for one in sentences(text) if lays_down(one))
    return list(dict.fromkeys(found))


def is_code(line: str) -> bool:
    """Whether a line is one of code, of markup or of a log."""
    return _CODE.search(line) is not None


def lays_down(sentence: str) -> bool:
    """Whether a sentence lays something down."""
    plain = simplified(sentence[:_LONGEST])
    if is_code(plain) or (_ASKS.search(plain) and not _ASKS_POLITELY.search(plain)):
        return False
    if _CHINESE.search(plain) and not _REPORTS_CHINESE.search(plain):
        return True
    body = _NUMBER.sub("", plain)
    if _REPORTS.search(body):
        body = _REPORTS.sub(" ", body)
        return _SAYS.search(body) is not None
    return any(pattern.search(body) for pattern in (_SAYS, _ORDERS, _STATES))


_NUMBER = late(r"^\s*(?:\(?\d{1,3}[.)、:]|[a-z][.)])\s*")
