export { createResults } from './results.ts';
