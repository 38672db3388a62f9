"""Extraction by a model. Each provider's library is known to one file: `claude`, `openai`.

Another provider is a `Client` of one's own: everything else here (what the model is told, how its
answer is read and checked) is the same for all.
"""

from beliefledger.gate.model.client import BatchClient, Client, Question, Reply, Tokens
from beliefledger.gate.model.extractor import ModelExtractor

__all__ = ["BatchClient", "Client", "ModelExtractor", "Question", "Reply", "Tokens"]
