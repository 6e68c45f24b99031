/** The models that think, by whatever server they are served. */
export const thinkingMimo = /\bmimo-v/i;
