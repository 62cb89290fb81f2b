"""What the members of an ensemble are: learners whose boxes cover samples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from hyperboxes._estimators.agglomerative import AgglomerativeGFMM
from hyperboxes._estimators.classifier import BaseGFMM
from hyperboxes._estimators.online import ImprovedOnlineGFMM
from hyperboxes._estimators.registry import find_by_class
from hyperboxes._learning.callbacks import FitCallbacks
from hyperboxes._learning.members import MemberLearner
from hyperboxes._models.model import BoxModel
from hyperboxes._models.samples import Samples


def find_learners(estimator: Any, share: float) -> list[MemberLearner]:
    """Return the ways to learn a member, which are taken in turn and draw a share of samples."""
    learners = estimator
    if learners is None:
        learners = [
            ImprovedOnlineGFMM(theta=0.1),
            AgglomerativeGFMM(theta=0.7, algorithm="agglo2"),
        ]
    elif not isinstance(learners, list):
        learners = [learners]
    if not learners:
        raise ValueError("estimator is an empty list: name at least one learner, or None.")
    for learner in learners:
        _check(learner)
    return [
        MemberLearner(
            partial(_learn_with, learner),
            learner.membership_function,
            share,
            isinstance(learner, AgglomerativeGFMM),
        )
        for learner in learners
    ]


def _check(learner: Any) -> None:
    """Refuse what cannot be a member."""
    entry = find_by_class(type(learner))
    if not isinstance(learner, BaseGFMM) or (entry and entry.boxes != "cover"):
        raise TypeError(
            "Members are learners whose boxes cover samples, such as ImprovedOnlineGFMM, "
            f"not {type(learner).__name__}. For other learners use scikit-learn's "
            "BaggingClassifier."
        )
    learner._validate_params()
    if np.any(np.asarray(learner.gamma) != 1.0):
        raise ValueError(
            f"Members have gamma=1, not {learner.gamma!r}: how fast their votes fall with "
            "the distance is the temperature of the ensemble."
        )
    if learner.unlabeled is not None:
        raise ValueError("All samples of an ensemble need a label: unlabeled must be None.")


def _learn_with(learner: BaseGFMM, samples: Samples, model: BoxModel) -> None:
    """Learn boxes as a learner does, in the order of the samples."""
    learner._learn(samples, model, FitCallbacks(None, samples, None, dict))
