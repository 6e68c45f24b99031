import type { UnitsRecord } from '#usage/index.ts';
import type { TaskRow } from './task-row.ts';

/** What a usage row says of a task. @param quantity milliseconds or tokens; null: nothing was made */
export function unitsOf(
  { id, protocol, demand }: Pick<TaskRow, 'id' | 'protocol' | 'demand'>,
  quantity: number | null,
): UnitsRecord {
  return {
    ...(quantity !== null && madeOf(protocol, quantity)),
    resolution: demand.resolution,
    with_video: demand.withVideo,
    task: id,
  };
}

/** A quantity under the name of its unit. */
export function madeOf(protocol: TaskRow['protocol'], quantity: number): UnitsRecord {
  return protocol === 'video-synthesis' ? { video_ms: quantity } : { video_tokens: quantity };
}
