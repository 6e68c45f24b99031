import type { Words } from '../index.ts';

export const clients: Words['clients'] = {
  title: '客户端',
  places: {
    shell: '在终端中',
    cline: '在 Cline 中：Settings → API Configuration',
    cursor: '在 Cursor 中：Settings → Models → API Keys',
    openWebUi: '容器的环境变量，或 Admin Settings → Connections',
  },
  notes: {
    claudeCode: '这里的地址不带 /v1。要长期使用，请把变量写进 ~/.claude/settings.json 的 env。',
    geminiNeedsHttps: 'Gemini CLI 只接受本机的 http 地址：请在此网关前使用 https。',
    cursor: '请求由 Cursor 的服务器发出，所以它们必须能访问此地址。Tab 补全不经过这里。',
    openWebUi: '它会自己列出模型。在 Docker 中，localhost 是 host.docker.internal。',
  },
  tried: '已用 {{version}} 试过。',
  untried: '尚未用 {{client}} 试过：按其文档编写。',
};
