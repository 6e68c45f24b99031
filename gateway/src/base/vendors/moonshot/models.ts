/** The models that think, by whatever server they are served: K2 Thinking, K2.5 and later, and the coding plan's name. */
export const thinkingKimi = /kimi-(k2-thinking|k2[.p]\d|k[3-9]|for-coding|latest)|\bk2p\d/i;
