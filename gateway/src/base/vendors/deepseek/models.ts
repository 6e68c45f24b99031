/** The models that think, by whatever server they are served: those from V3.2 on, and the names of its own server. */
export const thinkingDeepseek = /deepseek[-_ ]?(reasoner|chat|v3\.[2-9]|v[4-9]|v\d\d)/i;
