import { findFacts } from '#vendors/index.ts';

/** Whether every answer is made up: there are channels, and all of them lead to simulators. @param channels the enabled ones */
export function isOnlySimulated(channels: readonly { readonly provider: string }[]): boolean {
  return (
    channels.length > 0 && channels.every(({ provider }) => findFacts(provider)?.runsHere === true)
  );
}
