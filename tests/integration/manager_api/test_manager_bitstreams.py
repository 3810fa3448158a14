"""Bitstreams over HTTP, against a real API process."""

import base64
import hashlib
import io
import json
import uuid

import httpx2
import pytest

from fpga_common.client import ManagerClient, ManagerProblem
from fpga_common.testing.sim import make_gbs
from support.node_reports import AFU, INTERFACE
from support.running_manager import RunningManager


def fresh_gbs(payload_bytes: int = 4096) -> bytes:
    return make_gbs(INTERFACE, uuid.uuid4().hex, payload_bytes=payload_bytes)


def name() -> str:
    return f"b-{uuid.uuid4().hex[:12]}"


def upload(http: httpx2.Client, content: bytes, **params: str) -> httpx2.Response:
    return http.post(
        "/api/v1/bitstreams",
        params={"name": name(), **params},
        content=content,
        headers={"Content-Type": "application/octet-stream"},
    )


def stored_files(manager: RunningManager) -> list[str]:
    return sorted(path.name for path in manager.store.rglob("*") if path.is_file())


def test_an_upload_is_parsed_and_stored_under_its_digest(
    client: ManagerClient, manager: RunningManager
) -> None:
    content = fresh_gbs()

    stored = client.upload_bitstream(io.BytesIO(content), name="first", version="1.0")

    assert stored.digest == "sha256:" + hashlib.sha256(content).hexdigest()
    assert stored.interface_id == INTERFACE
    assert stored.size_bytes == len(content)
    assert stored.references == ["first", "first@1.0"]
    assert stored.uploaded_by == "admin"
    assert stored.digest.removeprefix("sha256:") in stored_files(manager)


def test_the_same_content_twice_is_one_blob_and_answers_200(
    http: httpx2.Client, client: ManagerClient, manager: RunningManager
) -> None:
    content = fresh_gbs()

    first, second = upload(http, content), upload(http, content)

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["digest"] == second.json()["digest"]
    digits = first.json()["digest"].removeprefix("sha256:")
    assert stored_files(manager).count(digits) == 1
    digests = [item.digest for item in client.bitstreams()]
    assert digests.count(first.json()["digest"]) == 1


def test_a_bitstream_is_found_by_digest_by_name_and_by_version(client: ManagerClient) -> None:
    own = name()
    old = client.upload_bitstream(io.BytesIO(fresh_gbs()), name=own, version="1")
    new = client.upload_bitstream(io.BytesIO(fresh_gbs()), name=own, version="2")

    assert client.bitstream(old.digest).digest == old.digest
    assert client.bitstream(f"{own}@1").digest == old.digest
    assert client.bitstream(f"{own}@2").digest == new.digest
    assert client.bitstream(own).digest == new.digest


def test_a_version_never_moves_to_another_file(http: httpx2.Client) -> None:
    own = name()
    upload(http, fresh_gbs(), name=own, version="1")

    second = upload(http, fresh_gbs(), name=own, version="1")

    assert second.status_code == 409
    assert second.json()["code"] == "version_taken"


@pytest.mark.parametrize(
    ("content", "field"),
    [(b"", "guid"), (b"no bitstream at all" * 10, "guid")],
    ids=["empty", "wrong magic"],
)
def test_a_file_that_is_no_bitstream_is_refused_and_nothing_is_stored(
    http: httpx2.Client, manager: RunningManager, content: bytes, field: str
) -> None:
    before = stored_files(manager)

    answer = upload(http, content)

    assert answer.status_code == 422
    problem = answer.json()
    assert problem["code"] == "invalid_bitstream"
    assert problem["errors"][0]["field"]
    assert problem["errors"][0]["expected"]
    assert problem["errors"][0]["actual"]
    assert stored_files(manager) == before, field


def test_a_truncated_gbs_is_refused_with_the_field_and_both_values(http: httpx2.Client) -> None:
    answer = upload(http, fresh_gbs()[:30])

    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    error = answer.json()["errors"][0]
    assert error["field"]
    assert error["expected"] != error["actual"]


def test_a_file_above_the_limit_is_refused_also_when_its_length_is_not_announced(
    http: httpx2.Client,
) -> None:
    content = fresh_gbs(payload_bytes=1_200_000)

    announced = upload(http, content)
    streamed = http.post(
        "/api/v1/bitstreams",
        params={"name": name()},
        content=(content[start : start + 65536] for start in range(0, len(content), 65536)),
        headers={"Content-Type": "application/octet-stream"},
    )

    assert (announced.status_code, streamed.status_code) == (413, 413)
    assert announced.json()["code"] == streamed.json()["code"] == "bitstream_too_large"


def test_an_announced_digest_is_checked(http: httpx2.Client) -> None:
    content = fresh_gbs()
    right = base64.b64encode(hashlib.sha256(content).digest()).decode()
    wrong = base64.b64encode(hashlib.sha256(b"other").digest()).decode()

    def send(digest: str) -> httpx2.Response:
        return http.post(
            "/api/v1/bitstreams",
            params={"name": name()},
            content=content,
            headers={
                "Content-Type": "application/octet-stream",
                "Content-Digest": f"sha-256=:{digest}:",
            },
        )

    assert send(wrong).json()["code"] == "digest_mismatch"
    assert send("xx").status_code == 400
    assert send(right).status_code == 201


def test_an_upload_without_the_right_content_type_is_refused(http: httpx2.Client) -> None:
    answer = http.post("/api/v1/bitstreams", params={"name": "x"}, json={})

    assert answer.status_code == 415
    assert answer.json()["code"] == "unsupported_media_type"


def test_a_name_that_could_be_a_path_is_refused(http: httpx2.Client) -> None:
    assert upload(http, fresh_gbs(), name="../etc/passwd").json()["code"] == "invalid_name"


def test_an_unknown_bitstream_is_404(client: ManagerClient) -> None:
    for reference in ("nothing", "nothing@1", "sha256:" + "0" * 64):
        with pytest.raises(ManagerProblem) as refused:
            client.bitstream(reference)
        assert refused.value.status == 404
        assert refused.value.problem.code == "unknown_bitstream"


def test_the_list_is_newest_first_pages_and_filters(
    client: ManagerClient, http: httpx2.Client
) -> None:
    own = name()
    digests = [client.upload_bitstream(io.BytesIO(fresh_gbs()), name=own).digest for _ in range(3)]

    listed = [item.digest for item in client.bitstreams(limit=1) if item.digest in digests]
    assert listed == list(reversed(digests))
    assert [item.digest for item in client.bitstreams(name=own)] == [digests[-1]]
    assert list(client.bitstreams(afu_id=AFU)) == []
    page = http.get("/api/v1/bitstreams", params={"limit": 1}).json()
    moved = http.get(
        "/api/v1/bitstreams", params={"cursor": page["next_cursor"], "interface_id": INTERFACE}
    )
    assert (moved.status_code, moved.json()["code"]) == (400, "invalid_cursor")


def test_a_deleted_bitstream_is_gone_with_its_names_and_bytes(
    client: ManagerClient, manager: RunningManager
) -> None:
    own = name()
    stored = client.upload_bitstream(io.BytesIO(fresh_gbs()), name=own)

    client.delete_bitstream(stored.digest)

    assert stored.digest.removeprefix("sha256:") not in stored_files(manager)
    with pytest.raises(ManagerProblem):
        client.bitstream(own)
    with pytest.raises(ManagerProblem):
        client.delete_bitstream(stored.digest)


def test_nodes_fetch_the_very_bytes(http: httpx2.Client, manager: RunningManager) -> None:
    content = fresh_gbs()
    digest = upload(http, content).json()["digest"]
    token = manager.add_node_token("fetching-node")

    answer = http.get(
        f"/internal/v1/bitstreams/{digest}", headers={"Authorization": f"Bearer {token}"}
    )

    assert answer.status_code == 200
    assert answer.headers["Content-Length"] == str(len(content))
    assert answer.content == content


def test_a_viewer_may_look_but_not_upload(client: ManagerClient, manager: RunningManager) -> None:
    from fpga_common.contract.access import Role, TokenCreate

    token = client.create_token(TokenCreate(name=name(), role=Role.VIEWER))
    with manager.client(token.secret) as viewer:
        assert list(viewer.bitstreams(name="nobody-has-this")) == []
        with pytest.raises(ManagerProblem) as refused:
            viewer.upload_bitstream(io.BytesIO(fresh_gbs()), name="x")
    assert refused.value.problem.code == "role_too_low"
    assert json.loads(refused.value.problem.model_dump_json())["status"] == 403
