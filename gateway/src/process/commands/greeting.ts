import type { App } from '#app/index.ts';
import { isOnlySimulated, isPriced } from '#catalogue/index.ts';
import type { Config } from '#config/index.ts';
import { formatSecrets } from '#startup/index.ts';

/**
 * The text that a person needs after a start. Credentials are shown only here, or in the file that is named instead.
 */
export function greeting(version: string, app: App, config: Config): string {
  const url = config.server.publicUrl ?? app.url;
  const { admin, key, secretsFile } = app.firstStart;
  const lines = [`sluice ${version} listening on ${app.url}`];
  const isFirst = admin !== null || key !== null;
  const pages =
    app.consoleUrl === null
      ? null
      : `${config.console.listen === null ? url : app.consoleUrl}/console`;
  if (isFirst && pages !== null) lines.push(`console: ${pages}`);
  if (isFirst && isOnlySimulated(app.catalogue.snapshot().channels)) {
    const place = pages === null ? 'the configuration file' : `${pages}/channels/new`;
    lines.push(`upstream: a simulator makes up every answer; add a real one in ${place}`);
  }
  if (secretsFile !== null) {
    lines.push(`secrets: ${secretsFile}`);
    return `${lines.join('\n')}\n`;
  }
  const shownSecrets = formatSecrets({ admin, key }).trimEnd();
  if (shownSecrets !== '') lines.push(shownSecrets);
  if (key !== null) {
    const example = exampleCall(url, key, app);
    if (example !== null) lines.push(`try: ${example}`);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * A request that works when pasted: to the first routed chat model, in a protocol of its channel, else for an image, else
 * for a video. Null if the default group has no such model.
 */
function exampleCall(url: string, key: string, app: App): string | null {
  const question = '[{"role":"user","content":"Hello!"}]';
  const call = (path: string, body: string, more = '') =>
    `curl ${url}${path} -H 'authorization: Bearer ${key}' -H 'content-type: application/json' ${more}-d '${body}'`;
  let image: string | null = null;
  let video: string | null = null;
  const { models, routes: groups } = app.catalogue.snapshot();
  for (const [name, routes] of groups.get('default') ?? []) {
    const knownModel = models.get(name);
    if (knownModel === undefined || !knownModel.enabled || !isPriced(knownModel)) continue;
    const protocols = routes[0]?.channel.protocols ?? [];
    const model = JSON.stringify(name);
    if (knownModel.type === 'image' && protocols.includes('images')) {
      image ??= call('/v1/images/generations', `{"model":${model},"prompt":"A lighthouse"}`);
    }
    if (knownModel.type === 'video' && knownModel.price?.videoSecond !== undefined) {
      const path = '/v1/services/aigc/video-generation/video-synthesis';
      const body = `{"model":${model},"input":{"prompt":"A lighthouse"}}`;
      video ??= call(path, body, "-H 'x-dashscope-async: enable' ");
    } else if (knownModel.type === 'video') {
      const body = `{"model":${model},"prompt":"A lighthouse"}`;
      video ??= call('/api/v3/contents/generations/tasks', body);
    }
    if (knownModel.type !== 'chat') continue;
    if (protocols.includes('chat')) {
      return call('/v1/chat/completions', `{"model":${model},"messages":${question}}`);
    }
    if (protocols.includes('messages')) {
      return call('/v1/messages', `{"model":${model},"max_tokens":500,"messages":${question}}`);
    }
    if (protocols.includes('generate-content')) {
      const path = `/v1beta/models/${encodeURIComponent(name)}:generateContent`;
      return call(path, '{"contents":[{"role":"user","parts":[{"text":"Hello!"}]}]}');
    }
  }
  return image ?? video;
}
