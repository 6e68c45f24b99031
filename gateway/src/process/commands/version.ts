/** The running version, from its package. */
export async function programVersion(): Promise<string> {
  const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } });
  return manifest.version;
}
