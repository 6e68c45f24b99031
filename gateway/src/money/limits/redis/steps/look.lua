-- Nothing but the reply: the batch has found that Redis knows what the node knows.
return {'seen'}
