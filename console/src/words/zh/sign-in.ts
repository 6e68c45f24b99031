import type { Words } from '../index.ts';

export const signIn: Words['signIn'] = {
  email: '电子邮箱',
  password: '密码',
  submit: '登录',
  hint: '网关首次启动时会显示管理员的邮箱和密码。',
};
