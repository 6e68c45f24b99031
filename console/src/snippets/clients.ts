import { curlOf, keyPlaceholder, protocols } from './curl.ts';

/** What somebody runs or writes to reach the gateway with a client. */
export interface ClientSnippet {
  readonly name: string;
  readonly text: string;
}

interface Place {
  /** Of the gateway. */
  readonly url: string;
  readonly model: string;
  /** Absent: the placeholder. */
  readonly key?: string;
}

/** The usual clients, the shortest way first. */
export function clientSnippets({ url, model, key = keyPlaceholder }: Place): ClientSnippet[] {
  const { path, body } = protocols.chat;
  return [
    { name: 'curl', text: curlOf({ url, path: path(), body: body(model, 'Hello!'), key }) },
    {
      name: 'Claude Code',
      text: [
        `export ANTHROPIC_BASE_URL=${url}`,
        `export ANTHROPIC_AUTH_TOKEN=${key}`,
        `export ANTHROPIC_MODEL=${model}`,
        'claude',
      ].join('\n'),
    },
    {
      name: 'Python',
      text: [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${url}/v1", api_key="${key}")`,
        'answer = client.chat.completions.create(',
        `    model="${model}",`,
        '    messages=[{"role": "user", "content": "Hello!"}],',
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n'),
    },
    {
      name: 'TypeScript',
      text: [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });`,
        'const answer = await client.chat.completions.create({',
        `  model: '${model}',`,
        "  messages: [{ role: 'user', content: 'Hello!' }],",
        '});',
        'console.log(answer.choices[0]?.message.content);',
      ].join('\n'),
    },
  ];
}
