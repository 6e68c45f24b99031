import { end, returnLostCharge } from '#limits/leases/book.ts';
import { holdForTask } from './settle.ts';
import type { Creation, Mutation, Node, Row, World } from './world.ts';

/** The hold of a request becomes that of a task: the transaction begins. */
export function keep(node: Node, id: string): void {
  const { book } = node;
  const { amount } = book.holds.get(id)!;
  const parts = end(book, id, amount);
  const creation: Creation = { id, life: book.life, amount, parts, state: 'under way' };
  node.creations = [...node.creations, creation];
}

/** The transaction is carried out, whether or not somebody waits for it. */
export function create(world: World, node: Node, creation: Creation, mutation: Mutation): void {
  const isCreated = holdForTask(world.view, creation, mutation);
  if (isCreated) {
    const { amount, parts } = creation;
    world.tasks = new Map([...world.tasks, [creation.id, { amount, meters: [...parts.keys()] }]]);
  }
  decided(node, creation, isCreated ? 'committed' : 'rolled back');
}

export function decided(node: Node, creation: Creation, state: Creation['state']): void {
  node.creations = node.creations.map((one) => (one === creation ? { ...one, state } : one));
}

/** The node hears what became of the transaction, or finds out later. */
export function hear(node: Node, creation: Creation): void {
  node.creations = node.creations.filter((one) => one !== creation);
  if (creation.state === 'committed') node.kept = [...node.kept, creation];
  else giveBack(node, creation);
}

/** The node asks once whether the database has the task, when nothing of that time can be lost any more. */
export function ask(world: World, node: Node, creation: Creation): void {
  node.kept = node.kept.filter((one) => one !== creation);
  if (!isKnown(world, creation)) giveBack(node, creation);
}

const isKnown = ({ tasks, rows }: World, { id }: Creation): boolean =>
  tasks.has(id) || rows.has(id);

function giveBack(node: Node, { life, parts }: Creation): void {
  for (const book of [node.book, node.old]) if (book?.life === life) returnLostCharge(book, parts);
}

/** One transaction for the usage row and the end of the hold. */
export function endTask(world: World, id: string, cost: bigint): void {
  const { amount, meters } = world.tasks.get(id)!;
  const tasks = new Map(world.tasks);
  tasks.delete(id);
  world.tasks = tasks;
  for (const meter of meters) {
    const row = world.view.meters.get(meter)!;
    row.held -= amount;
    row.spent += cost;
  }
  const row: Row = {
    id,
    life: '',
    cost,
    over: cost > amount ? cost - amount : 0n,
    shortOn: [],
    parts: new Map(meters.map((meter) => [meter, cost])),
  };
  world.rows.set(id, row);
}

/** The database went back, and every connection to it broke. */
export function breakCreations(world: World): void {
  for (const node of world.nodes) {
    for (const one of [...node.creations, ...node.kept]) {
      if (!isKnown(world, one)) world.forgiven += one.amount;
    }
    node.creations = node.creations.map((one) => ({
      ...one,
      state: isKnown(world, one) ? 'committed' : 'rolled back',
    }));
  }
}
