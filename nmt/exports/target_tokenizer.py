"""A tokenizer of Hugging Face whose targets do not begin with START, copied into each export.

transformers puts START before the labels itself. A tokenizer.json cannot tell targets from sources,
which begin with it; this class can: AutoTokenizer.from_pretrained(folder, trust_remote_code=True).
"""

from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast


class TargetTokenizer(PreTrainedTokenizerFast):
    """Encodes sources as START text END, and targets (text_target) as text END."""

    def _switch_to_target_mode(self) -> None:
        self._put_around("$A", self.eos_token)

    def _switch_to_input_mode(self) -> None:
        self._put_around(self.bos_token, "$A", self.eos_token)

    def _put_around(self, *parts: str) -> None:
        special = [(token, self.convert_tokens_to_ids(token)) for token in parts if token != "$A"]
        self.backend_tokenizer.post_processor = TemplateProcessing(
            single=list(parts), pair=[*parts, "$B"], special_tokens=special
        )
