{{ streamcmp_counts(ref('base_predictions'), ref('candidate_predictions')) }}
