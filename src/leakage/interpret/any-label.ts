/** A column name of events that holds whatever the labels are called. */
export const ANY_LABEL = '*';
