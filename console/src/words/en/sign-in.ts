export const signIn = {
  email: 'E-mail address',
  password: 'Password',
  submit: 'Sign in',
  hint: 'The first start of the gateway prints the address and password of its administrator.',
} as const;
