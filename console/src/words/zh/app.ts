import type { Words } from '../index.ts';

export const app: Words['app'] = {
  pages: '页面',
  overview: '概览',
  home: '首页',
  requests: '请求',
  usage: '用量',
  keys: '密钥',
  channels: '渠道',
  models: '模型',
  playground: '试用',
  health: '健康',
  records: '记录',
  settings: '设置',
  run: '运行',
  people: '人员',
  teams: '团队',
  signOut: '退出登录',
  theme: '主题',
  light: '浅色',
  dark: '深色',
  system: '跟随系统',
  language: '语言',
  account: '账户',
  more: '更多',
  skip: '跳到内容',
  insecure: '此连接未加密：他人可以看到您输入的内容。',
};

export const palette: Words['palette'] = {
  title: '查找或执行',
  search: '搜索',
  hint: '页面、模型、密钥、操作，或请求的编号',
  found: '查找结果',
  nothing: '没有这个名称。',
  page: '页面',
  model: '模型',
  request: '请求',
  requestsOfKey: '此密钥的请求',
  export: '导出为 CSV',
  help: '键盘快捷键',
  filter: '筛选（在请求、模型和密钥页面）',
  filterRow: '按有焦点的行筛选（请求和用量页面）',
  rows: '下一行和上一行（在请求页面）',
  open: '打开该行（在请求页面）',
  close: '关闭已打开的内容',
  newKey: '新建密钥（在密钥页面）',
};

export const link: Words['link'] = {
  gateway: '网关自 {{time}} 起没有响应。显示的是之前的内容。',
  database: '数据库自 {{time}} 起没有响应。模型仍可使用，显示的是之前的内容。',
  now: '立即重试',
  over: '会话已结束',
  overHint: '请以 {{email}} 重新登录。已输入的内容会保留。',
};

export const states: Words['states'] = {
  pageMissing: '网关没有响应，或已换成其他版本。正在重试。',
  again: '重试',
  failed: '加载失败',
  request: '请求编号',
  forbidden: '您的角色无权查看此页面。管理员可以更改您的角色。',
  notFound: '没有这个页面。',
  toOverview: '前往概览',
  copy: '复制',
  copied: '已复制',
  undo: '撤销',
};

export const two = {
  title: '在您编辑时，有人更改了 {{name}}',
  changes: '双方的更改',
  setting: '设置',
  before: '之前',
  theirs: '对方',
  yours: '您',
  yes: '是',
  no: '否',
  note: '只有一方更改的内容按更改保存。双方都更改的内容，保存您的。',
  takeTheirs: '采用对方的',
  saveBoth: '保存双方的更改',
};
