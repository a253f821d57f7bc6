"""Views of reviews: parse, call a service or selector, answer. Who may do what is asked of the policy by the services."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from harnesses import policy
from harnesses.api.reviews_serializers import (
    CommentRequestSerializer,
    CommentSerializer,
    DecisionRequestSerializer,
    RenewSerializer,
    ReviewDetailSerializer,
    ReviewerSerializer,
    ReviewRequestSerializer,
    ReviewSerializer,
    ThreadRequestSerializer,
    ThreadSerializer,
    WithdrawSerializer,
    review_detail,
    reviewer_documents,
)
from harnesses.core.membership import HarnessAction
from harnesses.models import Harness, HarnessVersion, Review, ReviewThread
from harnesses.models.reviews import ACTIVE_STATES
from harnesses.selectors import (
    review_get,
    review_list,
    review_threads,
    suggested_reviewers,
    thread_get,
    version_get,
)
from harnesses.services import (
    review_decide,
    review_renew,
    review_request,
    review_withdraw,
    thread_open,
    thread_reopen,
    thread_reply,
    thread_resolve,
)
from ledger.api.authentication import calling_user
from ledger.api.idempotency import idempotent
from ledger.api.pagination import PAGE_PARAMETERS, paged
from ledger.core.tokens import Scope
from ledger.errors import Invalid, NotFound

READ, WRITE = [Scope.HARNESSES_READ], [Scope.REVIEWS_WRITE]
OPEN_STATES = "open"
_STATES = [*Review.State.values, OPEN_STATES]
_STATE = OpenApiParameter("state", str, enum=_STATES, description="`open` is in review or approved.")
_FILTERS = [
    _STATE,
    OpenApiParameter("harness", str, description="The slug of a harness."),
    OpenApiParameter("asked", str, enum=["me"], description="Those that you were asked to decide on by name."),
    OpenApiParameter("author", str, enum=["me"], description="Those that you requested."),
    OpenApiParameter("waiting", str, enum=["me"], description="Those that you can decide on, and did not yet."),
    *PAGE_PARAMETERS,
]


def read(serializer_class: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The checked body of a request. Raises ValidationError."""
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


class ReviewListView(APIView):
    """The reviews of every harness that the caller may see."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="List reviews", parameters=_FILTERS, responses=ReviewSerializer(many=True))
    def get(self, request: Request) -> Response:
        slug = request.query_params.get("harness", "")
        harness = policy.harness_for(calling_user(request), slug) if slug else None
        return _listed(request, self, harness)


class HarnessReviewListView(APIView):
    """The reviews of one harness."""

    required_scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(summary="List the reviews of a harness", parameters=_FILTERS, responses=ReviewSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return _listed(request, self, policy.harness_for(calling_user(request), slug))

    @extend_schema(summary="Request a review", request=ReviewRequestSerializer, responses={201: ReviewDetailSerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        harness = policy.harness_for(user, slug, HarnessAction.EDIT)
        values = read(ReviewRequestSerializer, request)
        review = review_request(
            version=named_version(harness, values["number"]),
            message=values["message"],
            reviewers=values["reviewers"],
            acting_user=user,
        )
        location = reverse("harnesses_api:review", [review.pk], request=request)
        return Response(_detail(request, review), status=201, headers={"Location": location})


class ReviewersView(APIView):
    """Who may review a version, those first who know what it changes."""

    required_scopes = {"GET": READ}

    @extend_schema(
        summary="Suggest reviewers",
        parameters=[OpenApiParameter("number", int, description="The version; the newest if left out.")],
        responses=ReviewerSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        user = calling_user(request)
        version = version_get(policy.harness_for(user, slug), request.query_params.get("number") or None)
        return Response(reviewer_documents(suggested_reviewers(version, requested_by=user)))


class ReviewAPIView(APIView):
    """A view of one review."""

    def review(self, request: Request) -> Review:
        """The review in the address. Raises NotFound where the caller may not see its harness."""
        return review_get(calling_user(request), self.kwargs["review_id"])

    def thread(self, request: Request) -> ReviewThread:
        """The thread in the address. Raises NotFound."""
        return thread_get(self.review(request), self.kwargs["thread_id"])


class ReviewView(ReviewAPIView):
    """One review with its decisions, changes and what the caller may do."""

    required_scopes = {"GET": READ}

    @extend_schema(summary="Read a review", responses=ReviewDetailSerializer)
    def get(self, request: Request, review_id: str) -> Response:
        return Response(_detail(request, self.review(request)))


class DecisionView(ReviewAPIView):
    """Approve or reject the version under review."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Decide on a review", request=DecisionRequestSerializer, responses=ReviewDetailSerializer)
    @idempotent
    def post(self, request: Request, review_id: str) -> Response:
        values = read(DecisionRequestSerializer, request)
        review = review_decide(review=self.review(request), acting_user=calling_user(request), **values)
        return Response(_detail(request, review))


class WithdrawView(ReviewAPIView):
    """Take a review back."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Withdraw a review", request=WithdrawSerializer, responses=ReviewDetailSerializer)
    def post(self, request: Request, review_id: str) -> Response:
        reason = read(WithdrawSerializer, request)["reason"]
        review = review_withdraw(review=self.review(request), reason=reason, acting_user=calling_user(request))
        return Response(_detail(request, review))


class RenewView(ReviewAPIView):
    """Move a review on to a newer version."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Move a review on", request=RenewSerializer, responses=ReviewDetailSerializer)
    def post(self, request: Request, review_id: str) -> Response:
        review = self.review(request)
        values = read(RenewSerializer, request)
        version = named_version(review.harness, values["number"])
        renewed = review_renew(
            review=review, version=version, message=values["message"], acting_user=calling_user(request)
        )
        return Response(_detail(request, renewed))


class ThreadListView(ReviewAPIView):
    """The threads of a review."""

    required_scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(summary="List the threads of a review", responses=ThreadSerializer(many=True))
    def get(self, request: Request, review_id: str) -> Response:
        return Response(ThreadSerializer(review_threads(self.review(request)), many=True).data)

    @extend_schema(summary="Open a thread", request=ThreadRequestSerializer, responses={201: ThreadSerializer})
    @idempotent
    def post(self, request: Request, review_id: str) -> Response:
        review = self.review(request)
        values = read(ThreadRequestSerializer, request)
        thread = thread_open(review=review, acting_user=calling_user(request), **values)
        return Response(ThreadSerializer(thread).data, status=201)


class CommentView(ReviewAPIView):
    """Say something in a thread."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Reply in a thread", request=CommentRequestSerializer, responses={201: CommentSerializer})
    @idempotent
    def post(self, request: Request, review_id: str, thread_id: str) -> Response:
        thread = self.thread(request)
        body = read(CommentRequestSerializer, request)["body"]
        comment = thread_reply(thread=thread, body=body, acting_user=calling_user(request))
        return Response(CommentSerializer(comment).data, status=201)


class ResolveView(ReviewAPIView):
    """Mark a thread as resolved."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Resolve a thread", request=None, responses=ThreadSerializer)
    def post(self, request: Request, review_id: str, thread_id: str) -> Response:
        thread = thread_resolve(thread=self.thread(request), acting_user=calling_user(request))
        return Response(ThreadSerializer(thread).data)


class ReopenView(ReviewAPIView):
    """Open a resolved thread again."""

    required_scopes = {"POST": WRITE}

    @extend_schema(summary="Reopen a thread", request=None, responses=ThreadSerializer)
    def post(self, request: Request, review_id: str, thread_id: str) -> Response:
        thread = thread_reopen(thread=self.thread(request), acting_user=calling_user(request))
        return Response(ThreadSerializer(thread).data)


def named_version(harness: Harness, number: int) -> HarnessVersion:
    """The version that a body names. Raises Invalid at the field `number` where there is none."""
    try:
        return version_get(harness, number)
    except NotFound as error:
        raise Invalid.field("number", error.detail, "Name a version that is there.", code="no_such_version") from error


def _detail(request: Request, review: Review) -> dict[str, Any]:
    user = calling_user(request)
    return review_detail(review_get(user, review.pk), user)


def _listed(request: Request, view: APIView, harness: Harness | None) -> Response:
    user, query = calling_user(request), request.query_params
    rows = review_list(
        user,
        states=_states(query.get("state", "")),
        harness=harness,
        asked=user if _is_me(query.get("asked", ""), "asked") else None,
        author=user if _is_me(query.get("author", ""), "author") else None,
        waiting_for=user if _is_me(query.get("waiting", ""), "waiting") else None,
    )
    return paged(request, view, rows.prefetch_related("reviewers"), lambda row: ReviewSerializer(row).data)


def _states(text: str) -> tuple[str, ...]:
    if text == OPEN_STATES:
        return ACTIVE_STATES
    if text and text not in Review.State.values:
        raise Invalid.field("state", f"{text[:40]!a} is no state.", f"Use one of {', '.join(_STATES)}.", code="state")
    return (text,) if text else ()


def _is_me(text: str, name: str) -> bool:
    if text not in ("", "me"):
        raise Invalid.field(name, f"{text[:40]!a} cannot be asked for.", f"Use {name}=me.", code="only_me")
    return text == "me"
