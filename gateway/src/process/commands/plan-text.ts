import type { Plan, PlanStep } from '#declaration/index.ts';

const signs: Readonly<Record<PlanStep['action'], string>> = {
  create: '+',
  update: '~',
  disable: '-',
};
const done: Readonly<Record<PlanStep['action'], string>> = {
  create: 'created',
  update: 'updated',
  disable: 'disabled',
};

/** A plan for people: one line per entry, and per changed field. */
export function formatPlan({ steps, notes }: Plan): string {
  const lines = steps.flatMap((step) => [
    `${signs[step.action]} ${step.kind} '${step.name}'`,
    ...(step.action === 'update' ? step.fields.map(formatField) : []),
  ]);
  return [...lines, ...notes.map((note) => `note: ${note}`)].map((line) => `${line}\n`).join('');
}

/** `2 created, 1 disabled`; `nothing to change`. */
export function summarise({ steps }: Plan, wording: 'done' | 'ahead'): string {
  const counts = (['create', 'update', 'disable'] as const).flatMap((action) => {
    const count = steps.filter((step) => step.action === action).length;
    if (count === 0) return [];
    return [wording === 'done' ? `${count} ${done[action]}` : `${count} to ${action}`];
  });
  return counts.length === 0 ? 'nothing to change' : counts.join(', ');
}

function formatField({ field, before, after, secret }: PlanStep['fields'][number]): string {
  return secret ? `    ${field}: changed` : `    ${field}: ${before} -> ${after}`;
}
