"""Play a task through the real agent loop: with a model, or with the expert that knows the right answer.

The expert speaks canonical calls; the bindings of whatever harness is tried turn them into what its model would have to write.
So if the expert does not get full marks, the harness (or a change of it) has made the task unsolvable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harnesses.core.bindings import BindingError, SurfaceCall, to_surface_call
from harnesses.core.call_writing import write_call
from harnesses.core.operations import OperationCall
from harnesses.core.spec import HarnessSpec
from harnesses.runtime.loop import run_turn
from harnesses.runtime.ports import ChatClient
from harnesses.runtime.testing import ScriptedChatClient
from harnesses.runtime.tool_documents import SKILL_ARGUMENT, skill_loader
from harnesses.runtime.trace import Conversation, Trace, TurnInput
from livestream.tasks.task import VIEWER_ID, GoldCall, Task, TaskTurn, open_task_room, world_of
from livestream.world import WorldOperations


@dataclass
class Scene:
    """A task ready to be answered under one harness: the room and the conversation as the earlier turns left them."""

    spec: HarnessSpec
    task: Task
    operations: WorldOperations
    conversation: Conversation

    async def answer(self, turn: TaskTurn, chat_client: ChatClient, seed: int | None = None) -> Trace:
        """Let the model answer one comment; room and conversation move on."""
        viewer = self.task.room.viewer_name
        heard = self.operations.room.heard(viewer_id=VIEWER_ID, viewer_name=viewer, text=turn.comment)
        self.operations.room = heard
        context = self.operations.world.context(heard, viewer)
        trace = await run_turn(
            self.spec,
            self.conversation,
            TurnInput(comment=turn.comment, viewer=viewer, context=context),
            chat_client=chat_client,
            operations=self.operations,
            seed=seed,
        )
        self.operations.room = self.operations.room.answered(trace.reply)
        self.conversation = trace.conversation
        return trace


async def set_scene(spec: HarnessSpec, task: Task) -> Scene:
    """Open the room and play what was said before, with the expert's answers. Raises BindingError if the harness cannot say
    them."""
    operations = WorldOperations(world_of(task.world), open_task_room(task.world, task.room))
    scene = Scene(spec, task, operations, Conversation())
    for turn in task.history:
        await scene.answer(turn, ScriptedChatClient(expert_outputs(spec, turn, None)))
    return scene


async def play(spec: HarnessSpec, task: Task, chat_client: ChatClient, seed: int | None = None) -> Trace:
    """The turn that is graded, answered by a model."""
    scene = await set_scene(spec, task)
    return await scene.answer(task.turn, chat_client, seed)


async def play_expert(spec: HarnessSpec, task: Task) -> Trace:
    """The turn that is graded, answered by the expert. Raises BindingError if a gold call cannot be made under this harness."""
    return await play(spec, task, ScriptedChatClient(expert_outputs(spec, task.turn, task.skill)))


def expert_outputs(spec: HarnessSpec, turn: TaskTurn, skill_id: str | None) -> list[str]:
    """What a model that knows the answer writes, output by output: the skill, one call a round, the reply.

    Where the harness has too few rounds, later calls share an output. A skill that the harness shows in full is not loaded.
    """
    calls = [surface_call(spec, call) for call in turn.calls]
    skill = _skill_call(spec, skill_id)
    if skill is not None:
        calls.insert(0, skill)
    written = [write_call(spec.runtime.call_format, call.tool_name, call.arguments) for call in calls]
    return [*_in_rounds(written, spec.runtime.max_tool_rounds), turn.reply]


def surface_call(spec: HarnessSpec, gold: GoldCall) -> SurfaceCall:
    """The gold call as this harness's model must write it.

    Tools that fix an argument are used where the gold call fixes the same value, or leaves that argument free. Raises BindingError.
    """
    problem: BindingError | None = None
    for arguments in (gold.arguments, *gold.also):
        for call in _spellings(spec, gold, OperationCall(gold.operation, dict(arguments))):
            try:
                return to_surface_call(spec, call)
            except BindingError as error:
                problem = problem or error
    assert problem is not None
    raise problem


def _spellings(spec: HarnessSpec, gold: GoldCall, call: OperationCall) -> Sequence[OperationCall]:
    """The call as it is, and with the free arguments at the value to which a tool fixes them."""
    found = [call]
    for tool in spec.tools:
        for case in tool.binding.cases if tool.binding else ():
            extra = {name: value for name, value in case.constants.items() if name not in call.arguments}
            if case.operation == call.operation and extra and set(extra) <= set(gold.free):
                found.append(OperationCall(call.operation, {**call.arguments, **extra}))
            own = {name: case.constants.get(name, value) for name, value in call.arguments.items()}
            if case.operation == call.operation and own != call.arguments:
                changed = {name for name in own if own[name] != call.arguments[name]}
                if changed <= set(gold.free):
                    found.append(OperationCall(call.operation, own))
    return found


def _skill_call(spec: HarnessSpec, skill_id: str | None) -> SurfaceCall | None:
    skill = next((each for each in spec.skills if each.id == skill_id), None)
    loader = skill_loader(spec)
    if skill is None or loader is None:
        return None
    return SurfaceCall(tool_id=loader.id, tool_name=loader.name, arguments={SKILL_ARGUMENT: skill.name})


def _in_rounds(written: list[str], rounds: int) -> list[str]:
    if len(written) <= rounds or rounds < 1:
        return written
    return [*written[: rounds - 1], "\n".join(written[rounds - 1 :])]
