import type { TaskLook, TaskUsage } from '#canonical/index.ts';
import type { TaskSide } from '../vendor.ts';
import {
  addressOf,
  failureCodeOf,
  idOf,
  notReported,
  objectOf,
  plainMembers,
  stateOf,
  usageOf,
} from '../task-values.ts';

export const synthesisPath = '/services/aigc/video-generation/video-synthesis';

/** The vendor allows 20 looks per second and account; its own users look too. */
const looksPerSecond = 15;

/** @param base what comes before the paths of the vendor's documentation, after the base URL */
export function dashscopeTasks(base = ''): TaskSide {
  return {
    // With it, a look is refused.
    submitHeaders: { 'x-dashscope-async': 'enable' },
    readId: (body) => idOf(objectOf(objectOf(body)?.['output'])?.['task_id']),
    look: (id) => ({ method: 'GET', path: `${base}/tasks/${encodeURIComponent(id)}` }),
    readLook,
    looksPerSecond,
  };
}

function readLook(body: unknown): TaskLook | null {
  const output = objectOf(objectOf(body)?.['output']);
  const status = output?.['task_status'];
  if (output === null || typeof status !== 'string') return null;
  const state = stateOf(status);
  const usage = objectOf(objectOf(body)?.['usage']) ?? {};
  const code = state === 'failed' ? failureCodeOf(output['code']) : null;
  if (state !== 'succeeded') return { state, code, usage: notReported, members: {} };
  // Some models put it one level deeper.
  const video = addressOf(output['video_url'] ?? objectOf(output['results'])?.['video_url']);
  if (video === null) return { state: 'withheld', code, usage: secondsOf(usage), members: {} };
  return {
    state,
    code,
    usage: secondsOf(usage),
    members: {
      output: { video_url: video, ...plainMembers(output, ['orig_prompt', 'actual_prompt']) },
      usage: plainMembers(usage, shownUsage),
    },
  };
}

const shownUsage = [
  'duration',
  'output_video_duration',
  'input_video_duration',
  'video_duration',
  'video_ratio',
  'video_count',
  'SR',
  'size',
  'ratio',
];

/** Generations of models name the seconds differently; the first positive one is what the vendor bills. */
function secondsOf(usage: Readonly<Record<string, unknown>>): TaskUsage {
  const reported = ['duration', 'output_video_duration', 'video_duration'].map((name) =>
    usageOf(usage[name], 1_000),
  );
  return (
    reported.find(({ quantity }) => (quantity ?? 0) > 0) ??
    reported.find(({ isImplausible }) => isImplausible) ??
    notReported
  );
}
