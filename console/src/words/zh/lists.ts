import type { Words } from '../index.ts';

export const range: Words['range'] = {
  label: '时间范围',
  '1h': '1 小时',
  '24h': '24 小时',
  '7d': '7 天',
  '30d': '30 天',
  '90d': '90 天',
  whole: '回到常用范围',
};

export const lists: Words['lists'] = {
  columns: '列',
  views: '视图',
  noViews: '为此列表命名，之后随时可以在这里打开。',
  viewName: '此列表的名称',
  keepView: '保存',
  removeView: '移除 {{name}}',
  view: '已保存的列表',
  copyCurl: '复制为 curl',
  copyCurlNamed: '将 {{name}} 复制为 curl',
};

export const data: Words['data'] = {
  histogram: '按状态统计的请求随时间的变化。方向键选择时间，按住 Shift 选择多段，回车键显示。',
  requests_one: '{{number}} 个请求',
  requests_other: '{{number}} 个请求',
  failed: '{{number}} 个失败',
  refused: '{{number}} 个被拒绝',
  suggestions: '建议',
  export: '（这些请求）',
  kindOfList: '哪些请求',
  history: '历史',
  live: '实时',
  pause: '暂停',
  follow: '继续',
  waiting: '还有 {{number}} 个',
  running: '{{number}} 个进行中。',
  dropped: '{{number}} 个来得太快，未在此显示；它们在历史中。',
  opening: '正在连接。',
  liveEmpty: '正在等待下一个请求。',
  lost: '连接已断开，正在重试。',
  ofProcess: '来自为此页面服务的进程。',
};
