export {
  createStateDirectory,
  isShared,
  type StateDirectory,
  type StateLocation,
  type Standing,
} from './state-directory.ts';
