import type { Words } from '../index.ts';

export const welcome: Words['welcome'] = {
  title: '欢迎',
  skip: '跳过',
  lead: '几步发出第一个请求，大约两分钟。以后也可以再做。',
  password: '您自己的密码',
  passwordHint: '初始密码曾显示在机器的屏幕上。请选择一个只有您知道的密码。',
  passwordDone: '已设置。初始密码不再有效。',
  upstream: '上游',
  upstreamHint:
    '添加上游之前，每个回答都来自内置模拟器。粘贴供应商的密钥；密钥加密保存，只会发送到下面的地址。',
  upstreamDone: '请求发送到 {{names}}。',
  useUpstream_zero: '请先选择模型',
  useUpstream_one: '使用它，含一个模型',
  useUpstream_other: '使用它，含 {{count}} 个模型',
  key: '客户端的密钥',
  keyHint: '显示在用它发出的每个请求中。',
  make: '创建密钥',
  keyDone: '密钥 {{name}} 已就绪，密文只显示这一次：',
  secret: '密文',
  first: '第一个请求',
  keyFirst: '用密钥发出请求后，会立即显示在这里。',
  waiting: '正在等待使用该密钥的请求…',
  receipt: '查看账单',
  signedIn: '登录身份',
  done: '前往概览',
};
