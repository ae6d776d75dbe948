"""Learning from a set of templates, apart from where they are kept.

A template and every open slot is a node. A node that has an open slot belongs together with all others that have
it, and the open slot is a template again with slots of its own: so values are found one after the other. A word is a
slot, too, open once it stood in an open one. The result is the smallest set of open slots that follows from the
templates, whatever their order: nothing that is open ever closes, and whatever may open by a new member, template or
name is looked at again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.learning.evidence import Member, is_name, is_value
from snaglist.plugins.issues.learning.slots import Slot, Word, slot_digests, slots, template_digest, weight, word_digest


@dataclass(frozen=True, slots=True)
class Node:
    """A template of events, or an open slot. `context` is the rest of the grouping key."""

    id: int
    context: str
    template: str
    opened: bool


class Store(Protocol):
    """Where nodes and slots are kept; all look-ups are by digest and for many at once."""

    def opened(self, digests: Collection[str]) -> Mapping[str, int]:
        """Return the nodes of those slots that are open."""

    def templates(self, digests: Collection[str]) -> Mapping[str, int]:
        """Return the nodes of templates that came from events."""

    def members(self, digests: Collection[str]) -> Mapping[str, Sequence[Member]]:
        """Return the members of slots."""

    def nodes(self, ids: Collection[int]) -> Sequence[Node]:
        """Return the nodes with these ids."""

    def add_members(self, rows: Sequence[tuple[str, Member]]) -> None:
        """Keep members of slots; one that is there stays."""

    def open(self, digest: str, context: str, template: str, member: int) -> int:
        """Make the node of a slot that is open; `member` is one of its members."""

    def join(self, node: int, other: int) -> None:
        """Note that two nodes belong together."""


def learn(store: Store, nodes: Iterable[Node]) -> None:
    """Look at nodes that the store has newly got, and at all that follows from them."""
    queue = list(nodes)
    while queue:
        queue = _Round(store, queue).run()


class _Round:
    """One step: the slots of some new nodes."""

    def __init__(self, store: Store, nodes: Sequence[Node]) -> None:
        self.store = store
        self.nodes = nodes
        self.found = {node.id: slots(node.context, node.template) for node in nodes}
        self.own = {node.id: template_digest(node.context, node.template) for node in nodes if not node.opened}
        self.texts = {self.own[node.id]: (node.context, node.template) for node in nodes if not node.opened}
        for node in nodes:
            self.texts.update((slot.digest, (node.context, slot.template)) for slot in self.found[node.id])
        self.opened = dict(store.opened(self.texts))
        self.found = {node.id: self._uncovered(node.context, self.found[node.id]) for node in nodes}
        self.values: dict[str, tuple[str, int]] = {}  # words of open slots by digest, and a node that has each

    def _uncovered(self, context: str, listed: Sequence[Slot]) -> list[Slot]:
        """Leave out pairs that the node of an open slot has too: what they say, that node says."""
        opened = [slot for slot in listed if len(slot.words) == 1 and slot.digest in self.opened]
        said = {digest for slot in opened for digest in slot_digests(context, slot.template)}
        return [slot for slot in listed if len(slot.words) == 1 or slot.digest not in said]

    def run(self) -> list[Node]:
        """Add the members, open what is ripe, join; returns the nodes to look at next."""
        self.store.add_members(
            [
                (digest, Member(node.id, slot.words, node.opened))
                for node in self.nodes
                for slot in self.found[node.id]
                for digest in (slot.digest, *self._words(slot))
                if digest not in self.opened
            ]
        )
        looked_at = {*self.own.values(), *(slot.digest for listed in self.found.values() for slot in listed)}
        new = self._open(looked_at - self.opened.keys())
        for node in self.nodes:
            for slot in self.found[node.id]:
                if slot.digest in self.opened:
                    self.store.join(self.opened[slot.digest], node.id)
                    self._note(node.id, slot.words.values())
            if self.own.get(node.id) in self.opened:
                self.store.join(self.opened[self.own[node.id]], node.id)
        return [*new, *self._name()]

    def _words(self, slot: Slot) -> Iterator[str]:
        """Give what a word is looked up by, when it alone is opened and may be a name."""
        if len(slot.words) == 1:
            yield from (word_digest(word.text) for word in slot.words.values() if is_name(word.text))

    def _note(self, node: int, words: Iterable[Word]) -> None:
        for word in words:
            if is_name(word.text):
                self.values.setdefault(word_digest(word.text), (word.text, node))

    def _name(self) -> Sequence[Node]:
        """Open the words of open slots; returns the nodes that have them elsewhere."""
        new = self.values.keys() - self.store.opened(self.values).keys()
        for digest in sorted(new):
            text, having_it = self.values[digest]
            self.store.open(digest, "", text, having_it)
        return self.store.nodes({member.node for having in self.store.members(new).values() for member in having})

    def _open(self, digests: Collection[str]) -> list[Node]:
        """Open the slots whose words are values; returns their nodes."""
        found = self.store.members(digests)
        templates = self.store.templates(found)
        members = {digest: having for digest, having in found.items() if len(having) > 1 or digest in templates}
        names = self._names(members.values())
        ripe = [
            digest
            for digest, having in sorted(members.items())
            if is_value(weight(self.texts[digest][1]), having, known=digest in templates, names=names)
        ]
        return [self._open_one(digest, members[digest], templates.get(digest)) for digest in ripe]

    def _open_one(self, digest: str, having: Sequence[Member], template: int | None) -> Node:
        node = self.opened[digest] = self.store.open(digest, *self.texts[digest], having[0].node)
        for member in having:
            self.store.join(node, member.node)
            self._note(member.node, member.words.values())
        if template is not None:
            self.store.join(node, template)
        return Node(node, *self.texts[digest], opened=True)

    def _names(self, members: Iterable[Sequence[Member]]) -> Collection[str]:
        """Return the words that are values in other templates."""
        texts = {
            word_digest(word.text): word.text
            for having in members
            for member in having
            for word in member.words.values()
        }
        return {texts[digest] for digest in self.store.opened(texts)}


class Model:
    """A set of templates in memory and what is learned from it."""

    def __init__(self) -> None:
        self._store = _Memory()

    def add(self, templates: Iterable[tuple[str, str]]) -> None:
        """Add templates, each with its context."""
        fresh = []
        for context, template in templates:
            digest = template_digest(context, template)
            if digest not in self._store.by_template:
                node = self._store.new(context, template, opened=False)
                self._store.by_template[digest] = node.id
                fresh.append(node)
        learn(self._store, fresh)

    def group(self, context: str, template: str) -> str:
        """Return the template of the group: the one with the most values of those that belong together."""
        node = self._store.by_template.get(template_digest(context, template))
        return template if node is None else self._store.shown(node)


class _Memory:
    """A store in memory; what belongs together is a forest of nodes."""

    def __init__(self) -> None:
        self.by_template: dict[str, int] = {}
        self._nodes: list[Node] = []
        self._parents: list[int] = []
        self._opened: dict[str, int] = {}
        self._members: defaultdict[str, dict[int, Member]] = defaultdict(dict)

    def new(self, context: str, template: str, *, opened: bool) -> Node:
        """Make a node."""
        node = Node(len(self._nodes), context, template, opened)
        self._nodes.append(node)
        self._parents.append(node.id)
        return node

    def shown(self, node: int) -> str:
        """Return the text of the group of a node."""
        return self._nodes[self._root(node)].template

    def opened(self, digests: Collection[str]) -> Mapping[str, int]:
        return {digest: self._opened[digest] for digest in digests if digest in self._opened}

    def templates(self, digests: Collection[str]) -> Mapping[str, int]:
        return {digest: self.by_template[digest] for digest in digests if digest in self.by_template}

    def members(self, digests: Collection[str]) -> Mapping[str, Sequence[Member]]:
        return {digest: list(self._members[digest].values()) for digest in digests if digest in self._members}

    def nodes(self, ids: Collection[int]) -> Sequence[Node]:
        return [self._nodes[node] for node in sorted(ids)]

    def add_members(self, rows: Sequence[tuple[str, Member]]) -> None:
        for digest, member in rows:
            self._members[digest].setdefault(member.node, member)

    def open(self, digest: str, context: str, template: str, member: int) -> int:
        node = self._opened[digest] = self.new(context, template, opened=True).id
        return node

    def join(self, node: int, other: int) -> None:
        roots = self._root(node), self._root(other)
        # The text that shows is a function of the set: the one that says least.
        first, second = sorted(roots, key=lambda root: (self._said(root), self._nodes[root].template, root))
        self._parents[second] = first

    def _said(self, node: int) -> int:
        return len(self._nodes[node].template.replace(PLACEHOLDER, ""))

    def _root(self, node: int) -> int:
        while self._parents[node] != node:
            self._parents[node] = self._parents[self._parents[node]]
            node = self._parents[node]
        return node
