import type { Config } from '#config/index.ts';
import { tryListening } from '#http/listen.ts';

/** What sets the console's own address, for messages. */
export const consoleAddress = 'console.listen';

/**
 * Checks that every address can be opened, before anything else is created.
 * @returns the configuration with a free port for each port 0
 * @throws Error with a message for the operator
 */
export async function tryAddresses(config: Config): Promise<Config> {
  const { server, console: settings } = config;
  const port = await tryListening(server);
  if (!settings.enabled || settings.listen === null) {
    return { ...config, server: { ...server, port } };
  }
  const own = await tryListening({ ...settings.listen, tls: server.tls, setting: consoleAddress });
  return {
    ...config,
    server: { ...server, port },
    console: { ...settings, listen: { ...settings.listen, port: own } },
  };
}
