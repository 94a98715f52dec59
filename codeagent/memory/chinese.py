"""Chinese in one script, for patterns: traditional characters as their simplified ones, place for place."""

from __future__ import annotations

_TRADITIONAL = (
    "這樣沒錯問題對當確認讚贊覺說話開幹辦來還過嗎麼個種換請後決動應該許準從記僅總遠務嚴須會為與於優測試無統註釋寫碼縮進號間別調"
    "刪檔並讓給將裡裏們時點東聽講隨見議實驗護觸邊線網頁單複雜檢執運結構變異類庫數據盡則項參員門關閉權標價長較評論體現啟連編譯復識顯載錄經傳輸環風錢額稱"
)
_SIMPLIFIED = (
    "这样没错问题对当确认赞赞觉说话开干办来还过吗么个种换请后决动应该许准从记仅总远务严须会为与于优测试无统注释写码缩进号间别调"
    "删档并让给将里里们时点东听讲随见议实验护触边线网页单复杂检执运结构变异类库数据尽则项参员门关闭权标价长较评论体现启连编译复识显载录经传输环风钱额称"
)
_TABLE = str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def simplified(text: str) -> str:
    """`text` with the traditional characters that our patterns have to know in their simplified form."""
    return text.translate(_TABLE)
