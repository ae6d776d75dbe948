"""Learning from a set of templates, apart from where they are kept.

A template and every open slot is a node. A node that has an open slot belongs together with all others that have
it, and the open slot is a template again with slots of its own: so values are found one after the other. The
result is the smallest set of open slots that follows from the templates, whatever their order.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.learning.evidence import (
    TURNING,
    Member,
    is_name,
    is_turning,
    is_value,
    says_enough,
    turning,
    values_beside,
)
from snaglist.plugins.issues.learning.slots import (
    Slot,
    joinable,
    position_digest,
    slots,
    template_digest,
    weight,
    word_digest,
)


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

    def joining(self, digests: Collection[str]) -> Mapping[str, int]:
        """Return the nodes of those slots whose members with one position belong together, by `position_digest`."""

    def templates(self, digests: Collection[str]) -> Mapping[str, int]:
        """Return the nodes of templates that came from events."""

    def members(self, digests: Collection[str]) -> Mapping[str, Sequence[Member]]:
        """Return the members of slots."""

    def nodes(self, ids: Collection[int]) -> Sequence[Node]:
        """Return the nodes with these ids."""

    def add_members(self, rows: Sequence[tuple[str, Member]]) -> None:
        """Keep members of slots; one that is there stays."""

    def open(self, digest: str, context: str, template: str, member: int, *, joining: bool) -> int:
        """Make the node of a slot that is open, or joins its members with one position; `member` is one of them."""

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
        self.ripened: list[str] = []
        self.having: dict[str, Sequence[Member]] = {}
        self.joining = dict(store.joining({digest for listed in self.found.values() for digest in joinable(listed)}))

    def run(self) -> list[Node]:
        """Add the members, open what is ripe, join; returns the slots that were opened."""
        self.store.add_members(
            [
                (slot.digest, Member(node.id, slot.words, node.opened))
                for node in self.nodes
                for slot in self._uncovered(node)
                if slot.digest not in self.opened
            ]
        )
        self._add_words()
        new = self._open(self.texts.keys() - self.opened.keys())
        for node in self.nodes:
            having = self.found[node.id]
            own = () if node.opened else (self.own[node.id],)
            self._join(node, self.opened, (*own, *(slot.digest for slot in having)))
            self._join(node, self.joining, joinable(having))
        return [*new, *self._name()]

    def _add_words(self) -> None:
        """Keep which nodes have a word: a word is a slot of its own, open when the word is known to be a value."""
        self.store.add_members(
            [
                (word_digest(word.text), Member(node.id, slot.words, node.opened))
                for node in self.nodes
                for slot in self.found[node.id]
                if len(slot.words) == 1
                for word in slot.words.values()
                if is_name(word.text)
            ]
        )

    def _name(self) -> Sequence[Node]:
        """Note the words of open slots as values; returns the nodes that have them elsewhere."""
        named: dict[str, tuple[str, int]] = {}
        for node in self.nodes:
            for slot in self.found[node.id]:
                if slot.digest in self.opened:
                    for word in slot.words.values():
                        named.setdefault(word_digest(word.text), (word.text, node.id))
        for digest in self.ripened:
            for member in self.having[digest]:
                for word in member.words.values():
                    named.setdefault(word_digest(word.text), (word.text, member.node))
        named = {digest: found for digest, found in named.items() if is_name(found[0])}
        new = named.keys() - self.store.opened(named).keys()
        for digest in sorted(new):
            text, having_it = named[digest]
            self.store.open(digest, "", text, having_it, joining=False)
        return self.store.nodes({member.node for having in self.store.members(new).values() for member in having})

    def _uncovered(self, node: Node) -> Sequence[Slot]:
        """Leave out pairs with a word that is a value by itself: the open slot stands for them."""
        found = self.found[node.id]
        values = {
            position for slot in found if len(slot.words) == 1 and slot.digest in self.opened for position in slot.words
        }
        return [slot for slot in found if len(slot.words) == 1 or values.isdisjoint(slot.words)]

    def _join(self, node: Node, slot_nodes: Mapping[str, int], digests: Iterable[str]) -> None:
        for digest in digests:
            if digest in slot_nodes:
                self.store.join(slot_nodes[digest], node.id)

    def _open(self, digests: Collection[str]) -> list[Node]:
        """Open the slots whose words are values, and join members of others; returns the nodes of the open ones."""
        members = self.store.members(digests)
        templates = self.store.templates(members)
        names = self._names(members)
        ripe = self.ripened
        self.having = dict(members)
        joining: set[tuple[str, int]] = set()
        beside: list[tuple[Member, int]] = []
        for digest, having in members.items():
            if len(having) == 1 and digest not in templates:
                continue
            fixed = weight(self.texts[digest][1])
            if is_value(fixed, having, known=digest in templates, names=names) or any(
                self._take_turns(digest, words) for words in turning(fixed, having)
            ):
                ripe.append(digest)
                continue
            found = values_beside(fixed, having)
            joining.update((digest, position) for position in found.among)
            beside += found.values
        self._join_members(joining.union(self._singles(beside)), members)
        return [self._open_one(digest, members[digest], templates.get(digest)) for digest in sorted(ripe)]

    def _singles(self, values: Iterable[tuple[Member, int]]) -> Iterator[tuple[str, int]]:
        """Give the slot of each member in which only that position is open.

        The member's own template tells it: in the text of a slot the words stand elsewhere, since opening takes
        several words for one and joins them with what stands beside them.
        """
        wanted = {(member.node, position): member.words.get(position) for member, position in values}
        nodes = {node.id: node for node in self.store.nodes({node for node, _ in wanted})}
        having = {node.id: slots(node.context, node.template) for node in nodes.values()}
        for (node_id, position), word in wanted.items():
            node = nodes[node_id]
            texts = [slot.template for slot in having[node_id] if word and slot.words == {position: word}]
            for text in texts if word else [node.template]:  # without a word there it is open in the member already
                digest = template_digest(node.context, text)
                self.texts[digest] = (node.context, text)
                yield digest, position

    def _take_turns(self, digest: str, words: Collection[str]) -> bool:
        """Tell whether these words take turns in another slot."""
        having = self.store.members([word_digest(word) for word in words])
        found: defaultdict[str, set[str]] = defaultdict(set)
        for node in self.store.nodes({member.node for members in having.values() for member in members}):
            for slot in slots(node.context, node.template):
                turn = {word.text for word in slot.words.values() if word.text in words and is_turning(word)}
                if len(slot.words) == 1 and turn and slot.digest != digest:
                    found[slot.digest] |= turn
                    if len(found[slot.digest]) >= TURNING and says_enough(weight(slot.template)):
                        return True
        return False

    def _names(self, members: Mapping[str, Sequence[Member]]) -> Collection[str]:
        """Return the words of slots that are values elsewhere."""
        texts = {
            word_digest(word.text): word.text
            for having in members.values()
            if len(having) > 1
            for member in having
            for word in member.words.values()
        }
        return {texts[digest] for digest in self.store.opened(texts)}

    def _join_members(self, places: Iterable[tuple[str, int]], members: Mapping[str, Sequence[Member]]) -> None:
        """Join the members that have a word at one position only."""
        wanted = {position_digest(digest, position): (digest, position) for digest, position in places}
        self.joining.update(self.store.joining(wanted.keys() - self.joining.keys()))
        new = {key: place for key, place in wanted.items() if key not in self.joining}
        beyond = {digest for digest, _ in new.values()} - members.keys()
        members = {**members, **self.store.members(beyond)}
        for key, (digest, position) in sorted(new.items()):
            having = [member.node for member in members.get(digest, ()) if member.words.keys() == {position}]
            if having:
                self.joining[key] = self._make(key, digest, having, joining=True)

    def _open_one(self, digest: str, having: Sequence[Member], template: int | None) -> Node:
        nodes = [member.node for member in having] + ([] if template is None else [template])
        node = self.opened[digest] = self._make(digest, digest, nodes, joining=False)
        return Node(node, *self.texts[digest], opened=True)

    def _make(self, key: str, digest: str, having: Sequence[int], *, joining: bool) -> int:
        node = self.store.open(key, *self.texts[digest], having[0], joining=joining)
        for other in having:
            self.store.join(node, other)
        return node


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
        self._joining: dict[str, int] = {}
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

    def joining(self, digests: Collection[str]) -> Mapping[str, int]:
        return {digest: self._joining[digest] for digest in digests if digest in self._joining}

    def templates(self, digests: Collection[str]) -> Mapping[str, int]:
        return {digest: self.by_template[digest] for digest in digests if digest in self.by_template}

    def members(self, digests: Collection[str]) -> Mapping[str, Sequence[Member]]:
        return {digest: list(self._members[digest].values()) for digest in digests if digest in self._members}

    def nodes(self, ids: Collection[int]) -> Sequence[Node]:
        return [self._nodes[node] for node in sorted(ids)]

    def add_members(self, rows: Sequence[tuple[str, Member]]) -> None:
        for digest, member in rows:
            self._members[digest].setdefault(member.node, member)

    def open(self, digest: str, context: str, template: str, member: int, *, joining: bool) -> int:
        slots_of_kind = self._joining if joining else self._opened
        node = slots_of_kind[digest] = self.new(context, template, opened=True).id
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
