/** The version that is running, as its package says. */
export async function programVersion(): Promise<string> {
  const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } });
  return manifest.version;
}
