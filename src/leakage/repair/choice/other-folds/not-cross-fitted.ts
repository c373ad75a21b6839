/** Thrown where a choice on out-of-fold predictions cannot be made fold by fold with certainty; the message says why. */
export class NotCrossFitted extends Error {}
