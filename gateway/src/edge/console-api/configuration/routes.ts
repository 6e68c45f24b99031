import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { type ComparedPlan, exportConfiguration, planText } from '#administration/index.ts';
import {
  changedSettings,
  type Config,
  ConfigError,
  describeSettings,
  formatProblem,
} from '#config/index.ts';
import type { Secrets } from '#database/index.ts';
import { createCallRate } from '../call-rate.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { type ExportRecordOptions, recordExport } from '../file-stream.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';

export interface ConfigurationRoutesOptions extends ServeOptions, ExportRecordOptions {
  readonly reads: Reads;
  readonly secrets: Secrets;
  readonly configuration: {
    /** The settings in force. */
    readonly running: Config;
    /** The same, with what follows from the machine. */
    readonly effective: Config;
    /** The file as it was last read. */
    readonly file: () => Config;
    /** The base of relative paths. */
    readonly workingDirectory: string;
  };
}

/** Of the response to a plan: a file without the lists disables everything. */
const mostSteps = 500;
const mostProblems = 100;
const noOrigin = { from: 'default', line: null, variables: [] } as const;

/** The effective configuration, its export, and the plan of another file. */
export function configurationRoutes(
  scope: FastifyInstance,
  options: ConfigurationRoutesOptions,
): void {
  const { reads, secrets, configuration, now } = options;
  const { running, effective, file, workingDirectory } = configuration;

  serveRoute(scope, contract.readConfiguration, options, async () => {
    const settings = describeSettings(effective).map(({ origin, ...setting }) => ({
      ...setting,
      origin: origin === null ? noOrigin : { line: null, ...origin },
    }));
    return { body: { file: file().file, settings, waiting: changedSettings(running, file()) } };
  });

  // Both read all that is declared.
  const countCall = createCallRate('exports and plans', now);

  serveRoute(scope, contract.exportConfiguration, options, async ({ caller }) => {
    countCall(caller.actor.id);
    const yaml = await reads((db) => exportConfiguration(db, secrets));
    await recordExport(options, caller.actor, { kind: 'config', name: 'sluice.yaml' }, null);
    return { body: yaml, yaml };
  });

  serveRoute(scope, contract.planConfiguration, options, async ({ body, caller }) => {
    countCall(caller.actor.id);
    const compared = {
      text: body.text,
      file: file().file ?? 'sluice.yaml',
      workingDirectory,
      running,
      takesOver: body.take_over ?? false,
    };
    const plan = await reads((db) => planText(db, secrets, compared).catch(refuseText));
    return { body: described(plan) };
  });
}

/** @throws ApiError with the problems of a text, each with its line */
function refuseText(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  const fields = error.problems
    .slice(0, mostProblems)
    .map((problem) => ({ path: 'text', message: formatProblem({ ...problem, file: null }) }));
  const more = error.problems.length > 1 ? `, and ${error.problems.length - 1} more` : '';
  throw new ApiError('invalid', `text: ${fields[0]?.message}${more}`, { fields });
}

type PlanView = z.input<typeof contract.planConfiguration.response>;

function described(plan: ComparedPlan): PlanView {
  const { steps, settings, conflicts, notes, notCompared } = plan;
  return {
    ok: conflicts.length === 0,
    steps: steps.slice(0, mostSteps).map(({ kind, name, action, fields }) => ({
      kind,
      name,
      action,
      changes: fields.map(({ field, before, after, secret }) => ({
        field,
        before: parsed(before),
        after: parsed(after),
        secret,
      })),
    })),
    more_steps: Math.max(0, steps.length - mostSteps),
    settings: [...settings],
    conflicts,
    notes,
    not_compared: [...notCompared],
  };
}

const parsed = (json: string | null): unknown => (json === null ? null : JSON.parse(json));
